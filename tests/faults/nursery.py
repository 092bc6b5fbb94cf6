"""Loads the product once and forks its parts from there, so that a killed part is back in a moment.

    python -m tests.faults.nursery

reads a JSON line {"role", "arguments", "log"} for each part to start and answers with its process number. A part is a
process of its own with a session of its own; nothing is connected before the fork. When the input ends, all end.
"""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import django
import uvicorn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")
django.setup()

from agentops import asgi, urls  # noqa: E402, F401 - loaded before the fork
from agentops.celery import app  # noqa: E402
from agentops.env import env  # noqa: E402
from tests.faults import clocks, tamper  # noqa: E402
from tests.faults.mutants import MUTANTS  # noqa: E402
from tests.faults.points import Points  # noqa: E402

_WORKER = ["--pool=threads", "--concurrency=8", "--queues=control,sandbox", "--without-gossip", "--without-mingle"]


_LOADED_LATE = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.strategy",
    "kombu.transport.redis",
    "psycopg_pool",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)


def web() -> None:
    """As the product's own child serves."""
    uvicorn.run(
        "agentops.asgi:application",
        host="127.0.0.1",
        port=env().agentops_port,
        lifespan="on",
        log_config=None,
        timeout_graceful_shutdown=5,
    )


def worker(folder: str, mutant: str = "", clock: str = "") -> None:
    """As compose.yaml runs it, with the named points; and with a planted fault, or a clock that may be turned."""
    if mutant:
        MUTANTS[mutant]()
    if clock:
        clocks.turn(Path(clock))
    Points(Path(folder)).install()
    app.worker_main(["worker", "--loglevel=WARNING", *_WORKER])


def beat(clock: str) -> None:
    """As compose.yaml runs it, with a clock that may be turned."""
    clocks.turn(Path(clock))
    app.start(["beat", "--loglevel=WARNING", "--pidfile="])


ROLES: dict[str, Callable[..., None]] = {"web": web, "worker": worker, "beat": beat, "tamper": tamper.write}


def main() -> None:
    """Start what is asked for until nobody asks any more."""
    app.loader.import_default_modules()
    for module in _LOADED_LATE:
        import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    children = []
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(asked["role"], asked["arguments"], asked["log"])
        children.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    for child in children:
        _end(child)


def _become(role: str, arguments: list[str], log: str) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    empty = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((empty, 0), (file, 1), (file, 2)):
        os.dup2(source, target)
    code = 1
    try:
        ROLES[role](*arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:  # noqa: BLE001 - nothing may go back to the nursery's own loop
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end(child: int) -> None:
    try:
        os.kill(child, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    main()
