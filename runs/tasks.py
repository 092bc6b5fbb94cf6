"""Celery's side of the engine: one line each; a message is a nudge, Postgres is the truth."""

from uuid import UUID

from celery import shared_task

from runs import checkpoints, execution, sweeps


@shared_task(name="runs.work")
def work(queue: str, hint: str | None = None) -> None:
    execution.work(queue, UUID(hint) if hint else None)


@shared_task(name="runs.sweep")
def sweep() -> None:
    sweeps.sweep()


@shared_task(name="runs.checkpoint")
def checkpoint() -> None:
    checkpoints.seal_all()
