"""W3C trace context: what a caller sends, and the ids of a run's own trace, derived so that every process agrees."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from uuid import UUID

_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?")


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of one run. `caller`: the span outside that asked for it; `sampled`: whether it wants a record."""

    trace_id: str
    root: str
    caller: str = ""
    sampled: bool = True


def read_traceparent(header: str | None) -> str:
    """The header as it is kept, of version 00; empty for none and for one that is not valid."""
    found = _TRACEPARENT.fullmatch(header or "")
    if found is None or (found[1] == "00" and found[3]):
        return ""
    return f"00-{found[2]}"


def trace_of(run_id: UUID, traceparent: str) -> Trace:
    """The caller's trace, or one of the run's own. Hashed: samplers need ids that are random in every bit."""
    root = span_id(run_id)
    if not traceparent:
        return Trace(blake2b(run_id.bytes, digest_size=16).hexdigest(), root)
    _, trace_id, caller, flags = traceparent.split("-")
    return Trace(trace_id, root, caller, sampled=int(flags, 16) & 1 == 1)


def span_id(row_id: UUID) -> str:
    """The span that tells of this row: a run, an attempt, a request."""
    return blake2b(row_id.bytes, digest_size=8).hexdigest()


def traceparent_of(trace: Trace, row_id: UUID, *, sampled: bool) -> str:
    """The header under which others hang their spans below the one of this row."""
    return f"00-{trace.trace_id}-{span_id(row_id)}-{int(sampled):02x}"
