"""The Inbox costs the same however much waits in it: its queries are counted, and the rows that its page reads."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agentops.tenancy.transaction import tenant_transaction
from benchmarks.copies import park_copies
from runs import execution
from runs.operations.configuring import install_agent
from runs.operations.starting import start_run
from tests.cast import Cast, Person
from tests.web.scene import build

MANY = 2000
PAGE = 26


def test_the_inbox_reads_one_page_whatever_waits(cast: Cast, browse: Callable[[Person], Client]) -> None:
    bob = browse(cast.bob)
    run_id = _parked(cast)
    park_copies(cast.tenant.id, run_id, 9)
    few = {tab: _queries(bob, tab) for tab in ("mine", "pending")}
    park_copies(cast.tenant.id, run_id, MANY)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE approvals_approvalrequest")
    for tab, before in few.items():
        after = _queries(bob, tab)
        assert len(after) == len(before), set(after) ^ set(before)
        assert len(_reads(after)) < 15, after
        (page,) = [sql for sql in after if f"LIMIT {PAGE}" in sql]
        assert 1 < _rows_read(cast, page) <= PAGE, page


def _parked(cast: Cast) -> Any:
    build(cast)
    call = {"tool": "scene_pay", "args": {"invoice_id": "INV-1", "amount": "1.00", "account": "DE02"}}
    playbook = {"steps": [call], "answer": "Done."}
    install_agent(cast.tenant.id, slug="payer", name="payer", planner="playbook", tools=["scene_pay", "scene_invoice"],
                  playbook=playbook)  # fmt: skip
    run_id = start_run(cast.alice.actor, agent="payer", task="Pay").run_id
    execution.work("control", run_id)
    return run_id


def _queries(client: Client, tab: str) -> list[str]:
    client.get("/inbox", {"tab": tab})
    with CaptureQueriesContext(connection) as found:
        assert client.get("/inbox", {"tab": tab}).content.count(b"data-row") >= 10
    return [query["sql"] for query in found.captured_queries]


def _reads(queries: list[str]) -> list[str]:
    """Without the transactions' own words and the setting of the tenant."""
    return [sql for sql in queries if sql.startswith("SELECT") and "set_config" not in sql]


def _rows_read(cast: Cast, sql: str) -> int:
    with tenant_transaction(cast.tenant.id), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        plan = cursor.fetchall()[0][0]
    assert not any(node["Node Type"] == "Seq Scan" for node in _nodes(plan[0]["Plan"]) if "requ" in str(node)), plan
    # While few decisions were ever made, Postgres rather reads them all than one by one.
    scans = [
        node
        for node in _nodes(plan[0]["Plan"])
        if "Scan" in node["Node Type"] and node.get("Relation Name") != "approvals_decision"
    ]
    removed = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
    return sum(int(n["Actual Loops"] * (n["Actual Rows"] + sum(n.get(key, 0) for key in removed))) for n in scans)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)
