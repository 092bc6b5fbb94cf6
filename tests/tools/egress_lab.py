"""Run by test_egress inside a namespace that has only lo: fake internet addresses and a server on each of them.

Names are answered from the cases' zone in place of a resolver; everything after that is the product's own code on
real sockets. Prints what was reached although it must not be, and exits 1.
"""

import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")

import django

CASES: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cases" / "ssrf.json").read_text())
REACHED: list[str] = []
REBIND = itertools.cycle(CASES["rebind"])


def main() -> int:
    """Drive the executor over every case."""
    _interfaces()
    django.setup()
    _answer_names()
    faults = [f"bad {url} reached {found}" for url in CASES["bad"] * 2 if (found := _forbidden(_reached(url)))]
    faults += [f"good {url} did not arrive" for url in CASES["good"] if not _reached(url)]
    faults += [
        f"not listed {url} reached {found}"
        for url in CASES["not_listed"]
        if "93.184.216.35" in (found := _reached(url))
    ]
    sys.stdout.write("\n".join(faults) or "nothing forbidden was reached")
    return 1 if faults else 0


def _interfaces() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in CASES["addresses_v4"]:
        subprocess.run(["ip", "addr", "add", f"{address}/32", "dev", "lo"], check=True)
    for address in CASES["addresses_v6"]:
        subprocess.run(["ip", "-6", "addr", "add", f"{address}/128", "dev", "lo", "nodad"], check=False)
    for family, anywhere in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((anywhere, 80))
        listener.listen(64)
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()


def _serve(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        REACHED.append(connection.getsockname()[0])
        with connection:
            target = connection.recv(65_536).decode(errors="replace").split(" ")[1]
            to = parse_qs(urlsplit(target).query).get("to")
            head = f"HTTP/1.1 302 Found\r\nLocation: {to[0]}" if to else "HTTP/1.1 200 OK"
            connection.sendall(f"{head}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}".encode())


def _answer_names() -> None:
    async def getaddrinfo(self: Any, host: str, port: int, **_: Any) -> list[Any]:
        zone = CASES["zone"].get(host)
        if host == "rebind.test":
            answers = [next(REBIND)]
        elif zone is not None:
            answers = [*zone["a"], *zone["aaaa"]]
        else:
            answers = ["127.0.0.1"] if host == "localhost" else [host]
        return [(socket.AF_INET6 if ":" in a else socket.AF_INET, 1, 6, "", (a, port)) for a in answers]

    setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)  # noqa: B010 - the resolver of the lab


def _forbidden(addresses: list[str]) -> list[str]:
    return [address for address in addresses if address not in CASES["public"]]


def _reached(url: str) -> list[str]:
    """The addresses that a call of a tool whose argument is this address arrived at."""
    from tests.tools.calls import call_of, http_spec
    from tools.executor import execute

    listed = [f"{name}:80" for name in [*CASES["zone"], "rebind.test", "localhost"] if name != "evil.test"]
    literals = [f"{a}:80" for a in CASES["addresses_v4"]] + [f"[{a}]:80" for a in CASES["addresses_v6"]]
    spec = http_spec("{args.x}", egress_by_argument=True, egress=[*listed, *literals, "127.0.0.1:80", "[::1]:80"])
    REACHED.clear()
    execute(call_of(spec, {"x": url}, seconds=5))
    return list(REACHED)


if __name__ == "__main__":
    sys.exit(main())
