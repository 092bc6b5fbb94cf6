"""Everything that the database says, read at one instant by somebody whom no rule of the product binds."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import IsolationLevel
from psycopg.rows import namedtuple_row

from agentops.chain import Link
from tests.faults.cluster import Cluster
from tests.faults.record import Line, seen

_ROWS = {
    "runs": "SELECT id, tenant_id, status, terminal_reason, used, reserved, event_seq, head, input FROM runs_run",
    "steps": "SELECT s.id, s.run_id, s.tool, s.risk, s.status, s.idempotency_key, s.token, s.charge_money,"
    " s.charge_records, p.args FROM runs_step s JOIN runs_proposal p ON p.step_id = s.id",
    "attempts": "SELECT step_id, number, outcome, args_digest FROM runs_attempt",
    "requests": "SELECT id, run_id, step_id, status, digest, snapshot, requesters FROM approvals_approvalrequest",
    "decisions": "SELECT request_id, user_id, verdict FROM approvals_decision",
    "events": "SELECT run_id, seq, kind, actor, at, data, hash, prev_hash FROM runs_event ORDER BY run_id, seq",
    "observations": "SELECT step_id, whole FROM runs_observation",
}


@dataclass
class Facts:
    """The rows of one instant by table, and what the world outside saw until a little later."""

    runs: list[Any] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)
    attempts: list[Any] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    decisions: list[Any] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    observations: list[Any] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def only(self, runs: set[str], ref: str) -> "Facts":
        """The same about these runs, and about what was done for this reference."""
        steps = [s for s in self.steps if str(s.run_id) in runs]
        requests = [r for r in self.requests if str(r.run_id) in runs]
        names, asked = {s.id for s in steps}, {r.id for r in requests}
        return Facts(
            runs=[r for r in self.runs if str(r.id) in runs],
            steps=steps,
            attempts=[a for a in self.attempts if a.step_id in names],
            requests=requests,
            decisions=[d for d in self.decisions if d.request_id in asked],
            events=[e for e in self.events if str(e.run_id) in runs],
            observations=[o for o in self.observations if o.step_id in names],
            lines=[line for line in self.lines if line.ref.startswith(f"{ref}.")],
        )

    def events_by_run(self) -> dict[UUID, list[Any]]:
        """Each run's events in order."""
        return _grouped(self.events, "run_id")

    def steps_by_run(self) -> dict[UUID, list[Any]]:
        """Each run's steps."""
        return _grouped(self.steps, "run_id")

    def effects(self) -> dict[str, list[Line]]:
        """What acted, by reference."""
        found: dict[str, list[Line]] = defaultdict(list)
        for line in self.lines:
            if line.acted:
                found[line.ref].append(line)
        return found


def gather(cluster: Cluster) -> Facts:
    """Read it all in one snapshot; the world is read after it, so that every effect is known to somebody."""
    facts = Facts()
    with cluster.connect() as connection:
        connection.autocommit = False
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.row_factory = namedtuple_row
        for name, query in _ROWS.items():
            setattr(facts, name, connection.execute(query.encode()).fetchall())
    facts.lines = seen(cluster.home)
    return facts


def reference(step: Any) -> str:
    """What the step's call names itself by."""
    args = json.loads(step.args) if step.args else {}
    return str(args.get("ref", ""))


def links(events: Iterable[Any]) -> list[Link]:
    """Events as the chain sees them."""
    return [Link(e.seq, e.kind, e.actor, e.at, e.data, e.prev_hash, e.hash) for e in events]


def _grouped(rows: Iterable[Any], column: str) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        found[getattr(row, column)].append(row)
    return found
