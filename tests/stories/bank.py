"""A server outside that records what reaches it, and answers when it is let."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.up import until


class Bank:
    """`hold()` keeps callers waiting until `let_go()`. `answers`: what it says at a path instead of yes."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.answers: dict[str, bytes] = {}
        self._may_answer = threading.Event()
        self._may_answer.set()
        bank = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                bank._take(f"GET {self.path}")
                self._answer()

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                bank._take(f"POST {self.path}")
                self._answer()

            def _answer(self) -> None:
                body = bank.answers.get(self.path, b'{"ok":true}')
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    def hold(self) -> None:
        """Answer nobody for now."""
        self._may_answer.clear()

    def let_go(self) -> None:
        """Answer everybody who waits."""
        self._may_answer.set()

    def wait_for(self, call: str, times: int = 1) -> None:
        """Return when `call` was seen so often."""
        until(lambda: self.seen.count(call) >= times, 120)

    def close(self) -> None:
        """Stop listening."""
        self.let_go()
        self.server.shutdown()
        self.server.server_close()

    def _take(self, call: str) -> None:
        self.seen.append(call)
        self._may_answer.wait(90)
