"""What the addresses under `/audit` and a run's export look like, for the OpenAPI document."""

from typing import Any
from uuid import UUID

from agentops.api.documents import Shown


class VerdictDocument(Shown):
    """Whether a log is as it was written; `first_bad_seq` names the first event that does not follow.

    Without `run`, `bad_runs` are the runs whose log does not end where the run says,
    and `bad_checkpoint` is the number of the first checkpoint that does not hold.
    """

    ok: bool
    events: int
    first_bad_seq: int | None = None
    runs: int | None = None
    bad_runs: list[UUID] | None = None
    checkpoints: int | None = None
    bad_checkpoint: int | None = None


class KeyDocument(Shown):
    """The public half of the key that signs checkpoints, in base64."""

    algorithm: str
    public_key: str


class ExportDocument(Shown):
    """One run for outsiders: its events as they were hashed, and the proof that a checkpoint contains their end.

    The repository's `docs/verify_run.py` checks such a file without asking us.
    """

    format: str
    tenant: UUID
    run: UUID
    agent: str
    status: str
    head: str
    events: list[dict[str, Any]]
    checkpoint: dict[str, Any] | None
