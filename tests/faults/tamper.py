"""Changes, behind the engine's back, what a run is about to send: as an evil program with the product's key would."""

import json
from pathlib import Path
from uuid import UUID

from runs.masking import seal_args


def write(tenant: str, step: str, args: str, file: str) -> None:
    """Seal other arguments for this step, for whoever may write them past the triggers."""
    draft = Path(f"{file}.draft")
    draft.write_bytes(seal_args(UUID(tenant), UUID(step), json.loads(args)))
    draft.rename(file)
