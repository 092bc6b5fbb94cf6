"""Decides, and says when that was committed; and when the tool that waited for it began."""

import json
import time
from typing import Any
from uuid import UUID

_BEGAN = (
    "SELECT o.whole FROM runs_step s JOIN runs_observation o ON o.step_id = s.id WHERE s.run_id = %s AND s.turn = %s"
)


def approve(office: Any, request_id: UUID, digest: str) -> float:
    """The moment of the commit, by the machine's clock."""
    from django.db import connection

    from approvals.domain.decision import Verdict
    from runs.operations.deciding import decide

    committed: list[float] = []
    commit: Any = connection._commit
    connection._commit = lambda: (commit(), committed.append(time.time()))  # type: ignore[attr-defined]
    try:
        decide(office.bob, request_id, verdict=Verdict.APPROVE, digest=digest)
    finally:
        connection._commit = commit  # type: ignore[attr-defined]
    return committed[-1]


def began(office: Any, run_id: UUID, turn: int = 1) -> float:
    """When the call of this turn began."""
    from django.db import connection

    from agentops.tenancy.transaction import tenant_transaction

    with tenant_transaction(office.tenant.id), connection.cursor() as cursor:
        cursor.execute(_BEGAN, [run_id, turn])
        ((whole,),) = cursor.fetchall()
    return float(json.loads(whole)["began"])
