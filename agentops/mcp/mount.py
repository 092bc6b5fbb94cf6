"""The mount of the gateway in our ASGI root; what it serves with is loaded when somebody calls."""

from importlib import import_module
from typing import Any, Final

from agentops.mcp.admission import admit, prepare
from agentops.mcp.door import Door
from agentops.mcp.hearing import ears
from agentops.mcp.life import Life


def _gateway() -> Any:
    return import_module("agentops.mcp.assembly").gateway()


_life: Final = Life(_gateway)
door: Final = Door(_life, admit, prepare)


async def close() -> None:
    """End what is served, with the process."""
    await _life.end()
    await ears.close()
