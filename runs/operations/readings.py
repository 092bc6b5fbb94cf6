"""Conditions as they travel: what must be probed, and what was read, when."""

import time
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from tools.call import PinnedTool
from tools.domain.canonical import Json
from tools.domain.spec import Precondition

MAX_AGE_SECONDS = 5.0
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
    """What a probe read: `value` is canonical text, None when it could not be read (`fault` says why).

    `taken`: `time.monotonic()` when all that was read together had been read.
    """

    place: str
    name: str
    value: str | None
    read_at: datetime
    fault: str = ""
    taken: float = field(default_factory=time.monotonic, compare=False)


type Readings = dict[tuple[str, str], Reading]


def fresh(readings: Readings, place: str, name: str) -> Reading | None:
    """The reading for this condition, unless its reader slept since and it is older than a claim accepts.

    By the reader's own steady clock: a wall clock that is wrong would make every reading old, and conditions that
    are slow to read would make each other old, and the run would read them for ever.
    """
    reading = readings.get((place, name))
    return reading if reading is not None and time.monotonic() - reading.taken <= MAX_AGE_SECONDS else None
