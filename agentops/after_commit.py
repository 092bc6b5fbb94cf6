"""Effects that leave a transaction: the only file that calls `on_commit`."""

from collections.abc import Callable, Sequence
from uuid import UUID

import structlog
from celery import current_app
from django.conf import settings
from django.db import transaction

from agentops.embedded import direct
from agentops.telemetry.traces import Span, traces
from agentops.telling import Fact, teller

_log = structlog.get_logger()


def nudge_later(queue: str, hint: UUID | None = None) -> None:
    """Tell the workers of `queue` that there is work; losing it costs a sweep period, nothing else."""
    _after_commit(lambda: nudge(queue, hint))


def nudge(queue: str, hint: UUID | None = None) -> None:
    """The same at once, for code that holds no transaction."""
    args = [queue, str(hint) if hint else None]
    if settings.CELERY_BROKER_URL.startswith("pgmq:"):
        direct.send("runs.work", args, queue)
    else:
        current_app.signature("runs.work", args=args, queue=queue).apply_async(retry=False)


def tell_later(tenant_id: UUID, kind: str, row_id: UUID) -> None:
    """Tell the tenant's open pages which row changed, never what it contains."""
    _after_commit(lambda: teller.tell(Fact(tenant_id, kind, row_id)))


def export_later(spans: Sequence[Span]) -> None:
    """Hand spans to the collector."""
    _after_commit(lambda: traces.export(spans))


def _after_commit(effect: Callable[[], None]) -> None:
    transaction.on_commit(lambda: _attempt(effect), robust=True)


def _attempt(effect: Callable[[], None]) -> None:
    """The row is committed and the sweep will find it: a broker that is away must not fail the caller."""
    try:
        effect()
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
        _log.warning("after_commit_failed", error=type(error).__name__)
