"""A collector of traces on the loopback: OTLP over HTTP, decoded, with what tests ask of it."""

import gzip
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.up import until


@dataclass(frozen=True)
class Seen:
    """One span as it arrived; `process` names the process that sent it."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    attributes: dict[str, Any]
    links: tuple[str, ...]
    failed: bool
    process: str


class Collector:
    """Listens until closed; keeps every span and the bytes that it came in."""

    def __init__(self) -> None:
        self.spans: list[Seen] = []
        self.raw = b""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """What sends a process's traces here, quickly."""
        address = f"http://127.0.0.1:{self._server.server_port}"
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_BSP_SCHEDULE_DELAY": "50"}

    def trace(self, trace_id: str, root: str = "invoke_agent") -> list[Seen]:
        """The whole trace in the order of time, as soon as the span of its run has come."""
        until(lambda: any(span.name.startswith(root) for span in self._of(trace_id)), 60)
        return sorted(self._of(trace_id), key=lambda span: (span.start, -span.end))

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take_in(self, body: bytes) -> None:
        """One request of an exporter."""
        self.raw += body
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            process = str(_attributes(group.resource.attributes)["service.instance.id"])
            self.spans += [_seen(span, process) for scope in group.scope_spans for span in scope.spans]

    def _of(self, trace_id: str) -> list[Seen]:
        return [span for span in self.spans if span.trace == trace_id]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                zipped = self.headers.get("Content-Encoding") == "gzip"
                collector.take_in(gzip.decompress(body) if zipped else body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def tree(spans: Iterable[Seen]) -> str:
    """The trace as text: a line a span, indented below its parent."""
    spans = list(spans)
    known = {span.id for span in spans}
    lines: list[str] = []

    def add(span: Seen, depth: int) -> None:
        lines.append("  " * depth + f"{span.name} {_told(span)}".rstrip())
        for child in spans:
            if child.parent == span.id:
                add(child, depth + 1)

    for span in spans:
        if span.parent not in known:
            add(span, 0)
    return "\n".join(lines)


def _told(span: Seen) -> str:
    wanted = ("agentops.terminal_reason", "agentops.approval.outcome", "agentops.outcome", "error.type")
    return " ".join(f"{name}={span.attributes[name]}" for name in wanted if name in span.attributes)


def _seen(span: Span, process: str) -> Seen:
    return Seen(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        attributes=_attributes(span.attributes),
        links=tuple(link.span_id.hex() for link in span.links),
        failed=span.status.code == Status.STATUS_CODE_ERROR,
        process=process,
    )


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}
