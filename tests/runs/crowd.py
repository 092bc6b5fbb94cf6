"""Many waiting runs fast: one that came there legally, copied row by row under ids of its own."""

from uuid import UUID

from django.db import connection

from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from tests.runs.scenario import Stage

PAY = [{"tool": "t_pay_plain", "args": {"account": {"$cel": "input.account"}, "amount": "5"}}]
_MINE = "unnest(%s::uuid[], %s::uuid[], %s::uuid[]) WITH ORDINALITY AS new(run, step, request, place)"
# Two neighbours share each moment, so that only the id keeps them in order.
_LATER = "make_interval(secs => (place / 2) * 0.001)"
_TABLES = {
    "runs_work_item": ("id = '{run}'", "'id', new.run, 'due_at', null"),
    "runs_run": ("id = '{run}'", f"'id', new.run, 'created_at', old.created_at + {_LATER}"),
    "runs_step": ("run_id = '{run}'", "'id', new.step, 'run_id', new.run, 'request_id', new.request"),
    "runs_proposal": ("step_id = '{step}'", "'step_id', new.step"),
    "approvals_approvalrequest": (
        "run_id = '{run}'",
        f"'id', new.request, 'run_id', new.run, 'step_id', new.step, 'opened_at', old.opened_at + {_LATER}",
    ),
}


def waiting_crowd(stage: Stage, size: int) -> tuple[list[UUID], list[UUID]]:
    """`size` runs that wait for a decision each: their ids and those of their requests, in no order."""
    if size == 0:
        return [], []
    first = stage.start(stage.agent("payer", PAY), given={"account": stage.account})
    stage.work(first)
    (step,), request = stage.steps(first), stage.pending(first)
    runs, steps, requests = ([uuid7() for _ in range(size - 1)] for _ in range(3))
    with tenant_transaction(stage.tenant_id), connection.cursor() as cursor:
        for table, (which, fresh) in _TABLES.items():
            where = which.format(run=first, step=step.id)
            cursor.execute(
                f"INSERT INTO {table} SELECT (jsonb_populate_record(old, jsonb_build_object({fresh}))).*"
                f" FROM {table} old, {_MINE} WHERE old.{where}",
                [runs, steps, requests],
            )
    return [first, *runs], [request.id, *requests]
