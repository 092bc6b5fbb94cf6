"""Spans to a collector, by OTLP over HTTP; address, headers and sampling are the SDK's own OTEL_* variables."""

from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from agentops.telemetry.context import Trace, span_id
from agentops.telemetry.traces import Span

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ending: ContextVar[Span] = ContextVar("agentops_ending_span")


class OtlpExporter:
    """Makes SDK spans of ended ones and sends them from a thread."""

    def __init__(self) -> None:
        resource = Resource.create({"service.name": "agentops", "service.instance.id": str(uuid4())})
        self._provider = TracerProvider(
            resource=resource.merge(OTELResourceDetector().detect()), id_generator=_RowIds(), shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("agentops")

    def is_sampled(self, trace: Trace) -> bool:
        """What the sampler says of the run as a whole; every part follows."""
        found = self._provider.sampler.should_sample(_outside(trace), int(trace.trace_id, 16), "invoke_agent")
        return found.decision is Decision.RECORD_AND_SAMPLE

    def export(self, spans: Sequence[Span]) -> None:
        """Hand these over."""
        for span in spans:
            token = _ending.set(span)
            try:
                self._export(span)
            finally:
                _ending.reset(token)

    def shutdown(self) -> None:
        """Send what is left."""
        self._provider.shutdown()

    def _export(self, span: Span) -> None:
        made = self._tracer.start_span(
            span.name,
            context=_outside(span.trace) if span.is_root else self._below(span.trace),
            kind=SpanKind.CLIENT if span.is_request else SpanKind.INTERNAL,
            attributes=span.attributes,
            links=[self._link(span.trace, span.follows)] if span.follows else (),
            start_time=_nanoseconds(span.start),
        )
        if span.error:
            made.set_status(StatusCode.ERROR)
            made.set_attribute("error.type", span.error)
        made.end(end_time=_nanoseconds(span.end))

    def _below(self, trace: Trace) -> Context:
        return _within(trace.trace_id, trace.root, sampled=self.is_sampled(trace))

    def _link(self, trace: Trace, row_id: UUID) -> Link:
        return Link(_context(trace.trace_id, span_id(row_id), sampled=self.is_sampled(trace)))


class _RowIds(IdGenerator):
    """The ids of a span are those of its row, so that it is the same span whoever tells of it."""

    def generate_span_id(self) -> int:
        span = _ending.get()
        return int(span_id(span.row), 16)

    def generate_trace_id(self) -> int:
        return int(_ending.get().trace.trace_id, 16)


def _outside(trace: Trace) -> Context:
    return _within(trace.trace_id, trace.caller, sampled=trace.sampled) if trace.caller else Context()


def _within(trace_id: str, parent: str, *, sampled: bool) -> Context:
    return set_span_in_context(NonRecordingSpan(_context(trace_id, parent, sampled=sampled)), Context())


def _context(trace_id: str, parent: str, *, sampled: bool) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
    return SpanContext(int(trace_id, 16), int(parent, 16), is_remote=True, trace_flags=flags)


def _nanoseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000
