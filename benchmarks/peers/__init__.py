"""Other engines doing the same run: scripts that name what they need, in environments that uv makes for them."""

import os
from pathlib import Path

PEERS = ("LangGraph", "DBOS", "Celery")


def peer_command(name: str) -> list[str]:
    """How to run it; its arguments are RUNS CONC DSN PID."""
    return scripted(Path(__file__).with_name(f"{name.lower()}.py"))


def scripted(script: Path) -> list[str]:
    """How to run a script that names what it needs."""
    return [os.environ.get("UV", "uv"), "run", "--quiet", "--script", str(script)]
