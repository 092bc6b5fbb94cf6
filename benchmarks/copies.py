"""Very many parked runs, quickly: copies of one real one, written by the plain role inside its tenant's transaction."""

from uuid import UUID

from django.db import connection

from agentops.tenancy.transaction import tenant_transaction

# A copy differs in its ids and in when it was asked; keys, checks and row-level security hold for it as for any row.
_NEW = {
    "runs_run": {"id": "copy.run"},
    "runs_work_item": {"id": "copy.run"},
    "runs_step": {"id": "copy.step", "run_id": "copy.run"},
    "approvals_approvalrequest": {
        "id": "copy.request",
        "run_id": "copy.run",
        "step_id": "copy.step",
        "opened_at": "o.opened_at + copy.n * interval '1 ms'",
    },
}


def park_copies(tenant_id: UUID, run_id: UUID, count: int) -> None:
    """Copy the run, its steps and its request `count` times. A run with one step, please."""
    with tenant_transaction(tenant_id), connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE copy ON COMMIT DROP AS SELECT n, uuidv7() AS run, uuidv7() AS step, uuidv7() AS request"
            " FROM generate_series(1, %s) n",
            [count],
        )
        for table, new in _NEW.items():
            cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = %s", [table])
            columns = [name for (name,) in cursor.fetchall()]
            names = ", ".join(f'"{column}"' for column in columns)
            values = ", ".join(new.get(column, f'o."{column}"') for column in columns)
            key = "run_id" if "run_id" in columns else "id"
            cursor.execute(
                f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} o, copy WHERE o.{key} = %s",
                [run_id],
            )
