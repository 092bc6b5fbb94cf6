"""What `up` calls at every start: people, tools, agents, books and runs of the demo, and `demo.json`."""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from demo import people, samples, story, toolbox

_STARTING = 45.0
_SETTLING = 15.0


def seed(home: Path, url: str, *, patience: float = _STARTING) -> None:
    """Make what is missing and keep the rest. The runs need the web server and a worker: waits `patience` for them."""
    file = home / "demo.json"
    cast = people.gather(_known(file), url)
    toolbox.install(cast.carol, url)
    samples.fill(cast.tenant.id)
    _write(file, cast.file)
    if _is_up(url, time.monotonic() + patience):
        story.tell(cast, seconds=_SETTLING)


def _known(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all, and for its owner alone from the first byte."""
    draft = file.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        json.dump(content, out, indent=2)
    draft.replace(file)


def _is_up(url: str, deadline: float) -> bool:
    parent = os.getppid()
    # Whoever started us may be stopped meanwhile.
    while time.monotonic() < deadline and os.getppid() == parent:
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=2) as answer:  # noqa: S310 - our own address
                if answer.status == HTTPStatus.OK:
                    return True
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)
    return False
