# /// script
# requires-python = ">=3.12"
# dependencies = ["langgraph>=1", "langgraph-checkpoint-postgres>=3", "psycopg[binary,pool]>=3.2"]
# ///
"""LangGraph with its Postgres checkpointer: five nodes, an interrupt before the third, durable after each step."""

import operator
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict

# This folder holds a file with the library's name.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

from langgraph.checkpoint.postgres import PostgresSaver  # noqa: E402
from langgraph.graph import END, START, StateGraph  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402
from psycopg.rows import dict_row  # noqa: E402
from psycopg_pool import ConnectionPool  # noqa: E402

from benchmarks.machine import cpu_of, emit, own_cpu  # noqa: E402


class State(TypedDict):
    """What the graph carries."""

    results: Annotated[list[Any], operator.add]


def node(number: int) -> Any:
    """One tool."""

    def tool(_: State) -> dict[str, Any]:
        if number == 3:
            interrupt({"tool": "echo", "args": {"x": 1}})
        return {"results": [{"tool": "echo", "x": number, "ok": True}]}

    return tool


def main() -> None:
    """Measure and report."""
    runs, at_once, dsn, postgres = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    graph = StateGraph(State)
    names = [START, *(f"t{n}" for n in range(1, 6)), END]
    for number, name in enumerate(names[1:-1], 1):
        graph.add_node(name, node(number))
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(dsn, min_size=at_once, max_size=at_once, kwargs=options) as pool:
        saver = PostgresSaver(pool)  # type: ignore[arg-type]
        saver.setup()
        app = graph.compile(checkpointer=saver)

        def one(_: int) -> None:
            config: Any = {"configurable": {"thread_id": str(uuid.uuid4())}}
            app.invoke({"results": []}, config, durability="sync")
            if len(app.invoke(Command(resume=True), config, durability="sync")["results"]) != 5:
                raise SystemExit("a run was not whole")

        with ThreadPoolExecutor(at_once) as threads:
            list(threads.map(one, range(max(3, at_once))))
            mine, theirs, began = own_cpu(), cpu_of(postgres), time.perf_counter()
            list(threads.map(one, range(runs)))
            took, cpu = time.perf_counter() - began, own_cpu() - mine + cpu_of(postgres) - theirs
    emit(runs_s=round(runs / took, 1), steps_s=round(5 * runs / took, 1), cpu_ms=round(cpu / runs * 1000, 1),
         note=f"langgraph {version('langgraph')}, lean graph, durability sync")  # fmt: skip


main()
