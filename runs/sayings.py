"""What people have said about calls of unknown outcome: read from the run's own log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from runs.models import Event
from tools.domain.canonical import parse

SAID = "outcome_said"


@dataclass(frozen=True)
class Saying:
    """One person's word about an unknown call."""

    label: str
    person: str
    step: str
    outcome: str
    evidence: str
    at: datetime


def sayings(tenant_id: UUID, run_id: UUID, step_id: UUID) -> list[Saying]:
    """What people have said about the step so far, the last word of each."""
    rows = Event.objects.filter(tenant_id=tenant_id, run_id=run_id, kind=SAID).order_by("seq")
    found = (_saying(row) for row in rows)
    return list({saying.person: saying for saying in found if saying.step == str(step_id)}.values())


def _saying(row: Event) -> Saying:
    data: Any = parse(row.data)
    return Saying(row.actor, data["person"], data["step"], data["outcome"], data["evidence"], row.at)
