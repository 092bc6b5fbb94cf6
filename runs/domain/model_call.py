"""One request to a model, as it is told to a trace once it is over."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class ModelCall:
    """Who was asked, for how long, and what it used; never what was said. `error`: a code, empty when it answered."""

    id: UUID
    provider: str
    model: str
    started_at: datetime
    finished_at: datetime
    input_tokens: int = 0
    output_tokens: int = 0
    finish_reason: str = ""
    error: str = ""
