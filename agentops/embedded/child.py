"""What one supervised process runs: `python -m agentops.embedded.child web|worker`."""

import os
import signal
import sys
import threading
import warnings

from agentops.embedded.supervisor import PARENT_PIPE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")


def main(name: str) -> None:
    """Run one of the parts; end with the supervisor, however that ends."""
    descriptor = os.environ.get(PARENT_PIPE)
    if descriptor:
        threading.Thread(target=_end_with_parent, args=(int(descriptor),), daemon=True).start()
    {"web": _web, "worker": _worker}[name]()


def _web() -> None:
    import uvicorn  # noqa: PLC0415 - each part loads its own server only

    from agentops.env import env  # noqa: PLC0415

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
    from celery.platforms import SecurityWarning  # noqa: PLC0415 - each part loads its own server only

    from agentops.celery import app  # noqa: PLC0415

    # Celery warns root because of pickle; only JSON is accepted here.
    warnings.simplefilter("ignore", SecurityWarning)
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


def _end_with_parent(descriptor: int) -> None:
    # The supervisor never writes: reading ends when its process does, even by kill -9.
    os.read(descriptor, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1])
