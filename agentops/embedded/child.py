"""What one supervised process runs: `python -m agentops.embedded.child web|worker`.

It loads its code while the database is still being prepared, which is most of the time that a start takes.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import django

from agentops.embedded.lifeline import hold_on
from agentops.embedded.supervisor import PREPARED

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")


def main(name: str) -> None:
    """Run one of the parts; end with the supervisor, however that ends."""
    hold_on()
    django.setup()
    {"web": _web, "worker": _worker}[name]()


def _web() -> None:
    import uvicorn  # noqa: PLC0415 - each part loads its own server only

    from agentops import asgi, urls  # noqa: F401, PLC0415
    from agentops.env import env  # noqa: PLC0415

    _wait_for_database()
    uvicorn.run(
        "agentops.asgi:application",
        host=env().agentops_host,
        port=env().agentops_port,
        lifespan="on",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=5,
    )


def _worker() -> None:
    from agentops.celery import app  # noqa: PLC0415 - each part loads its own server only

    # Celery warns root because of pickle; only JSON is accepted here.
    warnings.filterwarnings("ignore", "You're running the worker with superuser privileges")
    app.loader.import_default_modules()
    _wait_for_database()
    worker = app.Worker(
        pool="threads",
        concurrency=8,
        queues="control,sandbox",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        optimization="fair",
    )
    worker.start()
    sys.exit(worker.exitcode)


def _wait_for_database() -> None:
    mark = os.environ.get(PREPARED)
    while mark and not Path(mark).exists():
        time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1])
