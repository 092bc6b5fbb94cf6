"""Conditions as they travel: what must be probed, and what was read, when."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from tools.call import PinnedTool
from tools.domain.canonical import Json
from tools.domain.spec import Precondition

MAX_AGE = timedelta(seconds=5)
MAX_PROBES = 20


@dataclass(frozen=True)
class ProbeWanted:
    """One read to make outside any transaction. `place`: "turn.index" of the step it is for."""

    place: str
    condition: Precondition
    tool: PinnedTool | None
    args: Json = field(repr=False)
    tenant_id: UUID
    run_id: UUID
    known: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(frozen=True)
class Reading:
    """What a probe read: `value` is canonical text, None when it could not be read (`fault` says why)."""

    place: str
    name: str
    value: str | None
    read_at: datetime
    fault: str = ""


type Readings = dict[tuple[str, str], Reading]


def fresh(readings: Readings, place: str, name: str, now: datetime) -> Reading | None:
    """The reading for this condition unless it is older than a claim accepts."""
    reading = readings.get((place, name))
    if reading is None or now - reading.read_at > MAX_AGE:
        return None
    return reading
