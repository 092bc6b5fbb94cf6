"""A tool server of its own process: acts as it is told, and writes down every request before it answers.

    python -m tests.faults.outside PORT FOLDER

`seen.jsonl` in the folder has a line for each request. `mood` there overrides the behaviour of ordinary requests
while it exists; `release` lets go of those that are held, `release.SERIAL` of one. `arrived/REF` appears when a
request did.
"""

import json
import sys
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.faults.record import Line
from tools.domain.canonical import canonical, parse

SLOW_SECONDS = 0.4
HANG_SECONDS = 6.0
TOO_LARGE = 5 * 1024 * 1024
HELD_SECONDS = 60.0


class Outside(ThreadingHTTPServer):
    """What the world remembers: effects, and every request."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, port: int, folder: Path) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.folder = folder
        (folder / "arrived").mkdir(exist_ok=True)
        self.file = (folder / "seen.jsonl").open("a", buffering=1)
        self.guard = threading.Lock()
        known = [json.loads(text) for text in (folder / "seen.jsonl").read_text().splitlines()]
        self.serial = len(known)
        self.effects: dict[str, int] = {}
        for line in known:
            self._remember(line)

    def take(self, tool: str, mode: str, ref: str, key: str, body: str) -> int:
        """Write the request down, and whether it acts; what makes its effects once acts once for a reference."""
        acts = tool != "read" and mode != "fail"
        with self.guard:
            acts = acts and not (tool == "once" and ref in self.effects)
            self.serial += 1
            digest = sha256(body.encode()).hexdigest()
            line = Line(self.serial, time.time(), tool, mode, ref, key, digest, acts)._asdict()
            self._remember(line)
            self.file.write(json.dumps(line) + "\n")
            return self.serial

    def announce(self, ref: str) -> None:
        """Let those who watch the folder know that the request is here."""
        (self.folder / "arrived" / ref).touch()

    def mood(self) -> str:
        """What ordinary requests are answered like now."""
        try:
            return (self.folder / "mood").read_text() or "ok"
        except FileNotFoundError:
            return "ok"

    def wait_for_release(self, serial: int) -> None:
        """Hold the request until somebody says so."""
        names = [self.folder / "release", self.folder / f"release.{serial}"]
        ends = time.monotonic() + HELD_SECONDS
        while not any(name.exists() for name in names) and time.monotonic() < ends:
            time.sleep(0.02)

    def _remember(self, line: dict[str, Any]) -> None:
        if line["acted"]:
            self.effects.setdefault(line["ref"], line["serial"])
            if line["key"]:
                self.effects.setdefault(line["key"], line["serial"])


class Handler(BaseHTTPRequestHandler):
    """`/read/MODE/REF`, `/find/KEY`, and for effects `/TOOL/MODE/REF` with the arguments as body."""

    protocol_version = "HTTP/1.1"
    server: Outside

    def do_GET(self) -> None:
        """A read, or the question whether a key acted."""
        parts = self.path.strip("/").split("/")
        if parts[0] == "find":
            serial = self.server.effects.get(parts[1])
            self._send(200, json.dumps({"found": serial is not None, "serial": serial or 0}).encode())
            return
        self._behave("read", parts[1], parts[2], "{}")

    def do_POST(self) -> None:
        """An effect."""
        tool, mode, ref = self.path.strip("/").split("/")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._behave(tool, mode, ref, canonical(parse(body.decode())))

    do_PUT = do_POST  # noqa: N815 - the name is the library's

    def _behave(self, tool: str, mode: str, ref: str, body: str) -> None:
        mode = self.server.mood() if mode == "ok" else mode
        time.sleep(SLOW_SECONDS if mode == "late" else 0)
        serial = self.server.take(tool, mode, ref, self.headers.get("Idempotency-Key", ""), body)
        self.server.announce(ref)
        time.sleep({"slow": SLOW_SECONDS, "hang": HANG_SECONDS}.get(mode, 0))
        if mode == "held":
            self.server.wait_for_release(serial)
        if mode == "cut":
            self.close_connection = True
        else:
            self._send({"fail": 503, "error": 500}.get(mode, 200), _answer(mode, serial))

    def _send(self, status: int, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Nothing: `seen.jsonl` is the log."""


def _answer(mode: str, serial: int) -> bytes:
    if mode == "shape":
        return b'{"serial": "not a number", "more": [}'
    return json.dumps({"serial": serial, "filling": "x" * (TOO_LARGE if mode == "large" else 0)}).encode()


if __name__ == "__main__":
    Outside(int(sys.argv[1]), Path(sys.argv[2])).serve_forever()
