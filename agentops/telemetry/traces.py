"""Whether traces leave this process, and their way out. Where nobody asked, nothing of OpenTelemetry is loaded."""

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from agentops.telemetry.context import Trace, traceparent_of

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
FINISH_SECONDS = 3.0

type Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch that is over. `row`: what it tells of, and so its id; `error`: a code, never a sentence."""

    name: str
    trace: Trace
    row: UUID
    start: datetime
    end: datetime
    attributes: Mapping[str, Value]
    is_root: bool = False
    is_request: bool = False
    error: str = ""
    follows: UUID | None = None


class _Exporter(Protocol):
    def is_sampled(self, trace: Trace) -> bool: ...
    def export(self, spans: Sequence[Span]) -> None: ...
    def shutdown(self) -> None: ...


class Traces:
    """The traces of this process."""

    def __init__(self) -> None:
        self._exporter: _Exporter | None = None

    @property
    def are_on(self) -> bool:
        """Whether spans are exported."""
        return self._exporter is not None

    def start(self) -> None:
        """Export from now on, if the environment names a collector."""
        if _is_asked_for(os.environ):
            from agentops.telemetry.otlp import OtlpExporter  # noqa: PLC0415 - slow to load, and seldom asked for

            self._exporter = OtlpExporter()

    def export(self, spans: Sequence[Span]) -> None:
        """Hand these over; a thread sends them."""
        if self._exporter is not None:
            self._exporter.export(spans)

    def passed_on(self, trace: Trace, row_id: UUID) -> str:
        """The `traceparent` for what is called from the span of this row; a caller's own where nothing is exported."""
        if self._exporter is not None:
            return traceparent_of(trace, row_id, sampled=self._exporter.is_sampled(trace))
        return f"00-{trace.trace_id}-{trace.caller}-{int(trace.sampled):02x}" if trace.caller else ""

    def finish(self) -> None:
        """Send what is left, unless the collector takes longer than a process may take to end."""
        exporter, self._exporter = self._exporter, None
        if exporter is not None:
            last = threading.Thread(target=exporter.shutdown, name="last spans", daemon=True)
            last.start()
            last.join(FINISH_SECONDS)


def _is_asked_for(environment: Mapping[str, str]) -> bool:
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environment.get("OTEL_TRACES_EXPORTER", "")
    return exporter == "otlp" or (exporter == "" and any(environment.get(name) for name in _ENDPOINTS))


traces = Traces()
traces.start()
