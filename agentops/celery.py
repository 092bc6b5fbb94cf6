"""The Celery application: which broker, how workers keep their connections, what ticks."""

import os
from typing import Any

from celery import Celery, bootsteps
from celery.beat import EmbeddedService
from celery.signals import beat_init, task_postrun, task_prerun, worker_init, worker_shutdown
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, close_old_connections, connections
from kombu import pools
from kombu.transport import TRANSPORT_ALIASES

from agentops.telemetry.traces import traces
from agentops.telling import teller

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")
# The checks would load every page and view into the worker; `prepare`, CI and the web's start run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
TRANSPORT_ALIASES["pgmq"] = "agentops.embedded.transport:Transport"

app = Celery("agentops", amqp="agentops.broker:Broker")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery's Django fixup would close every connection before and after each task; the two receivers below give
# it back to Django's pool instead, which also notices a restarted Postgres.
app.conf.update({"CELERY_DB_REUSE_MAX": 10**9})
app.autodiscover_tasks()


class EmbeddedBeat(bootsteps.StartStopStep):
    """Beat as a thread of the control worker, where AGENTOPS_BEAT says so; otherwise it is a process of its own."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.enabled = app.conf.get("agentops_beat", False)
        self.service: Any = None

    def start(self, parent: Any) -> None:
        """Start ticking."""
        self.service = EmbeddedService(app, thread=True, scheduler_cls=app.conf.beat_scheduler)
        self.service.start()

    def stop(self, parent: Any) -> None:
        """Stop ticking."""
        if self.service is not None:
            self.service.stop()


app.steps["worker"].add(EmbeddedBeat)


@task_prerun.connect
@task_postrun.connect
def give_back_connections(**_: Any) -> None:
    """An idle thread holds no connection, and a broken one is replaced."""
    close_old_connections()


@worker_init.connect
@beat_init.connect
def refuse_unsafe_database(**_: Any) -> None:
    """Neither worker nor beat runs under a role that row-level security does not bind."""
    from agentops.health import refuse_unsafe_start  # noqa: PLC0415 - models are not loaded when this file is

    try:
        refuse_unsafe_start()
    except (ImproperlyConfigured, DatabaseError) as fault:
        close_pools()
        # Celery only logs what a receiver raises, unless it ends the process.
        raise SystemExit(f"Refused to start: {fault}") from fault


@worker_shutdown.connect
def close_pools(**_: Any) -> None:
    """Otherwise the exit waits five seconds for the pools' threads."""
    teller.finish()
    traces.finish()
    pools.reset()
    connections.close_all()
    connections["default"].close_pool()  # type: ignore[attr-defined]  # the Postgres wrapper has it
