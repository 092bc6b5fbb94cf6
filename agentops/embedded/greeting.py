"""What `up` prints when everything answers: the address and the sign-in."""

import json
from pathlib import Path

from agentops.embedded.supervisor import say


def greet(url: str, home: Path) -> None:
    """The address, and where there is a demo who may sign in."""
    say("up", "")
    say("up", f"AgentOps is ready: {url}/")
    file = home / "demo.json"
    if file.exists():
        people = json.loads(file.read_text())
        for role in ("operator", "approver", "admin"):
            person = people[role]
            say("up", f"  sign in as {role:<9} {person['email']}  password {person['password']}")
        say("up", f"  the demo's ledger is at {url}/demo/ledger/")
        say("up", f"  API keys are in {file}")
    say("up", "Ctrl-C stops everything and keeps the data.")
