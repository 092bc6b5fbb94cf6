"""Tools that do nothing but say when they ran, so that all that is measured is ours."""

import time

from pydantic import BaseModel

from tools.declare import ToolContext, tool


class Number(BaseModel):
    """Which of many equal calls."""

    n: int


class Ran(BaseModel):
    """When the tool ran, in seconds of the machine's clock."""

    began: str
    ended: str


def _now() -> str:
    return f"{time.time():.6f}"


@tool(name="bench_read", description="Reads nothing.", risk="read", scope="ledger:read", output_trust="trusted")
def bench_read(args: Number, ctx: ToolContext) -> Ran:
    """A free step."""
    began = _now()
    return Ran(began=began, ended=_now())


@tool(name="bench_write", description="Writes nothing.", risk="destructive", scope="ledger:write",
      output_trust="trusted", approval_summary="Write {args.n}")  # fmt: skip
def bench_write(args: Number, ctx: ToolContext) -> Ran:
    """A step that waits for a person."""
    began = _now()
    return Ran(began=began, ended=_now())


TOOLS = ("bench_read", "bench_write")
