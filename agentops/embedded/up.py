"""`manage.py up`: Postgres, database, web and worker in one terminal. Loads no Django, so that it stays small."""

import argparse
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

from agentops.embedded.errors import CannotStart
from agentops.embedded.greeting import greet
from agentops.embedded.home import Home
from agentops.embedded.lifeline import Lifeline
from agentops.embedded.postgres import APP, OWNER, Server
from agentops.embedded.preparation import Preparation
from agentops.embedded.supervisor import PREPARED, Child, Supervisor, say
from agentops.env import Env, env

_CLONE = Path(__file__).resolve().parent.parent.parent


def main(arguments: Sequence[str]) -> int:
    """Everything from the command line to the exit code."""
    try:
        options = _options(arguments)
        _run(options)
    except CannotStart as fault:
        sys.stderr.write(f"Cannot start: {fault}\n")
        return fault.exit_code
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    known: Env = env()
    parser = argparse.ArgumentParser(prog="manage.py up", description="Start AgentOps with all that it needs.")
    parser.add_argument("--host", default=known.agentops_host)
    parser.add_argument("--port", type=int, default=known.agentops_port)
    parser.add_argument("--home", type=Path, default=known.agentops_home, help="folder for data; default .agentops/")
    parser.add_argument("--no-demo", action="store_true", help="start without the demo tenant")
    parser.add_argument("--reset", action="store_true", help="delete the data in the home folder first")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> None:
    lifeline = Lifeline()
    supervisor = Supervisor(lifeline)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: supervisor.ask_to_stop())
    home = Home(options.home.absolute())
    _refuse_taken_port(options.host, options.port)
    with home.claim():
        server = Server(home.path)
        embedded = not env().database_url
        if options.reset:
            server.stop()
            home.reset()
        try:
            if embedded:
                _start_postgres(server)
            environment = _environment(options, home, server if embedded else None)
            preparation = _preparation(options, home, environment, server if embedded else None, lifeline)
            _serve(supervisor, environment, preparation, _url(options.host, options.port))
        finally:
            if embedded and server.stop():
                say("postgres", f"stopped; the data stays in {home.path}")


def _start_postgres(server: Server) -> None:
    began = time.monotonic()
    started = server.start()
    server.make_database("agentops")
    how = f"started in {time.monotonic() - began:.1f} s" if started else "was running already"
    say("postgres", f"{how}, socket in {server.socket}")


def _serve(supervisor: Supervisor, environment: dict[str, str], preparation: Preparation, url: str) -> None:
    if supervisor.is_stopping:
        return
    home = Path(environment["AGENTOPS_HOME"])
    prepared = home / "prepared"
    prepared.unlink(missing_ok=True)
    # The children load their code meanwhile and wait for this file.
    supervisor.start([_child(name, {**environment, PREPARED: str(prepared)}) for name in ("web", "worker")])
    try:
        preparation.begin()
        prepared.touch()
        supervisor.watch_until(lambda: preparation.is_finished() and _is_ready(url))
        if not supervisor.is_stopping:
            say("web", f"answers at {url}")
            say("worker", "takes calls and keeps the time")
            greet(url, home)
            supervisor.watch_until(lambda: False)
    finally:
        say("up", "stopping; Ctrl-C again does not wait for calls under way")
        preparation.end()
        supervisor.stop()


def _preparation(
    options: argparse.Namespace, home: Home, environment: dict[str, str], server: Server | None, lifeline: Lifeline
) -> Preparation:
    seed = [] if options.no_demo else ["--seed", str(home.path), "--url", _url(options.host, options.port)]
    owner_url = server.url(OWNER, "agentops") if server else ""
    return Preparation(home.path / "preparation", owner_url, seed, environment, lifeline)


def _child(name: str, environment: dict[str, str]) -> Child:
    beat = {"AGENTOPS_BEAT": "true"} if name == "worker" else {}
    served = {key: value for key, value in environment.items() if key != "DATABASE_OWNER_URL"}
    return Child(name, (sys.executable, "-m", "agentops.embedded.child", name), {**served, **beat})


def _environment(options: argparse.Namespace, home: Home, server: Server | None) -> dict[str, str]:
    known = env()
    set_here = {
        "PYTHONPATH": str(_CLONE),
        "AGENTOPS_HOME": str(home.path),
        "AGENTOPS_HOST": options.host,
        "AGENTOPS_PORT": str(options.port),
        "AGENTOPS_DEMO": "false" if options.no_demo else "true",
        "AGENTOPS_LOG_PLAIN": os.environ.get("AGENTOPS_LOG_PLAIN", "true"),
        "AGENTOPS_HTTPS": os.environ.get("AGENTOPS_HTTPS", "false"),
        "AGENTOPS_ALLOWED_PRIVATE_HOSTS": _private_hosts(options, known),
    }
    if not os.environ.get("SECRET_KEY"):
        set_here["SECRET_KEY"] = home.secret_key()
    if server is not None:
        set_here["DATABASE_URL"] = server.url(APP, "agentops")
        set_here["DATABASE_OWNER_URL"] = server.url(OWNER, "agentops")
    return {**os.environ, **set_here}


def _private_hosts(options: argparse.Namespace, known: Env) -> str:
    hosts = [known.agentops_allowed_private_hosts] if known.agentops_allowed_private_hosts else []
    if not options.no_demo:
        hosts.append(_url(options.host, options.port).removeprefix("http://"))
    return ",".join(hosts)


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=2) as answer:  # noqa: S310 - our own address
            return bool(answer.status == HTTPStatus.OK)
    except (urllib.error.URLError, OSError):
        return False


def _url(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - shown, not bound
    return f"http://{shown}:{port}"


def _refuse_taken_port(host: str, port: int) -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(found[0], socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(found[4])
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotStart(f"{host}:{port} cannot be used ({reason}): set AGENTOPS_PORT or --port.") from error
