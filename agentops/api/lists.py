"""What pages of lists look like, for the OpenAPI document."""

from agentops.api.documents import (
    ApprovalDocument,
    EventDocument,
    RunDocument,
    Shown,
    StepDocument,
)


class RunList(Shown):
    """One page of runs."""

    results: list[RunDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


class StepList(Shown):
    """Every step of a run."""

    results: list[StepDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


class EventList(Shown):
    """Events of a run."""

    results: list[EventDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None


class ApprovalList(Shown):
    """One page of requests."""

    results: list[ApprovalDocument]
    next: str | None
    count: int | None
    count_at_least: int | None = None
