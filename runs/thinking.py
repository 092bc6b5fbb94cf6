"""Asks the model that a claim names: no transaction is open, no database connection is held, the lease is kept."""

import time

from django.db import connection

from runs import inflight
from runs.domain.model_reply import ProviderFault, Reply
from runs.leases import Lease
from runs.operations.asking_model import Asked

START_WITHIN = 3.0
"""A request that did not start this soon after its claim is not made: its lease may be somebody else's by its end."""
GRACE = 60.0
"""The lease is kept for so long beyond the request's own time: on first use the libraries are imported meanwhile."""


def think(asked: Asked) -> Reply:
    """The model's reply, or what went wrong. A cancelled run is heard of within a second."""
    connection.close()
    lease = Lease(asked.tenant_id, asked.run_id, asked.call_id, asked.number, kind="model_call")
    with inflight.watched(lease, time.monotonic() + asked.seconds + GRACE) as cancelled:
        if time.monotonic() - asked.claimed_at > START_WITHIN:
            return ProviderFault("not_sent", "The worker was too slow to ask.", again=True)
        from runs.planners import provider  # noqa: PLC0415 - seconds and 100 MB that only a worker with a model pays

        return provider.ask(asked, cancelled)
