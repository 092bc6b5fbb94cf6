# /// script
# requires-python = ">=3.12"
# dependencies = ["langgraph>=1", "langgraph-checkpoint-postgres>=3", "psycopg[binary,pool]>=3.2"]
# ///
"""LangGraph with its Postgres checkpointer: five nodes, an interrupt before the third, durable after each step."""

import operator
import sys
import time
import uuid
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict

# This folder holds a file with the library's name.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

import psycopg  # noqa: E402
from langchain_core.runnables import RunnableConfig  # noqa: E402
from langgraph.checkpoint.postgres import PostgresSaver  # noqa: E402
from langgraph.graph import END, START, StateGraph  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402
from psycopg.rows import dict_row  # noqa: E402
from psycopg_pool import ConnectionPool  # noqa: E402

from benchmarks.machine import Race, emit, spread  # noqa: E402

STARTED: dict[str, float] = {}
"""When the tool that waited began, by the run."""


class State(TypedDict):
    """What the graph carries."""

    results: Annotated[list[Any], operator.add]


def node(number: int) -> Any:
    """One tool."""

    def tool(_: State, config: RunnableConfig) -> dict[str, Any]:
        if number == 3:
            interrupt({"tool": "echo", "args": {"x": 1}})
            STARTED[config["configurable"]["thread_id"]] = time.perf_counter()
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

        def one(_: int) -> float:
            run_id = str(uuid.uuid4())
            config: Any = {"configurable": {"thread_id": run_id}}
            app.invoke({"results": []}, config, durability="sync")
            decided = time.perf_counter()
            if len(app.invoke(Command(resume=True), config, durability="sync")["results"]) != 5:
                raise SystemExit("a run was not whole")
            return (STARTED.pop(run_id) - decided) * 1000

        with psycopg.connect(dsn, autocommit=True) as counting:

            def commits() -> int:
                ((number,),) = counting.execute("SELECT pg_current_xact_id()::text").fetchall()
                return int(number)

            figures, waits = Race(runs, at_once, (postgres,), commits=commits).of(one)
    note = f"langgraph {version('langgraph')}, lean graph, durability sync"
    emit(**figures, resume_ms=spread(waits), note=note)


main()
