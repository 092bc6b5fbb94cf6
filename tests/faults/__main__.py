"""`make faults MINUTES=n`: faults injected into real processes, a table of them, and what became of every call.

python -m tests.faults --minutes 10 [--seed 7]
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults.campaign import Outcome, campaign, say

SHARES = {"redis": 0.7, "pgmq": 0.3}
MARGIN_SECONDS = 75.0
"""Of each campaign's share, for its start and its end."""


def main() -> int:
    """Zero when nothing was lost, nothing happened twice and every book is true."""
    options = _options()
    seed = options.seed or str(random.SystemRandom().randrange(10**6))
    say(f"seed {seed}")
    outcomes = [_one(broker, options.minutes * 60 * share, f"{seed}-{broker}") for broker, share in SHARES.items()]
    _report(outcomes, seed)
    return 0 if all(outcome.verdict.is_clean for outcome in outcomes) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Inject faults for some minutes.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", default="")
    return parser.parse_args()


def _one(broker: str, seconds: float, seed: str) -> Outcome:
    home = Path(tempfile.mkdtemp(prefix="agentops-faults-"))
    home.chmod(0o755)
    outcome = campaign(home, broker, max(30, seconds - MARGIN_SECONDS), seed)
    if outcome.verdict.is_clean:
        shutil.rmtree(home, ignore_errors=True)
    else:
        say(f"logs and data are kept in {home}")
    return outcome


def _report(outcomes: list[Outcome], seed: str) -> None:
    faults, missed = Counter[str](), Counter[str]()
    for outcome in outcomes:
        faults.update(outcome.faults)
        missed.update(outcome.missed)
        for word in outcome.verdict.broken:
            say(f"BROKEN: {word}")
    say(f"\n{'fault':<42} injected  missed its moment")
    for name in sorted({*faults, *missed}):
        say(f"{name:<42} {faults[name]:>8}  {missed[name]:>8}")
    verdicts = [outcome.verdict for outcome in outcomes]
    runs, effects = (sum(getattr(o, name) for o in outcomes) for name in ("runs", "effects"))
    broken = sum(len(v.broken) for v in verdicts)
    say(f"\nseed {seed}: {runs} runs, {effects} effects outside, chains and budgets checked, {broken} broken promises")
    say(f"faults: {faults.total()}")
    for name in ("approved", "once", "unknown", "lost", "twice"):
        label = "executed once" if name == "once" else name
        say(f"{label}: {sum(getattr(v, name) for v in verdicts)}")


if __name__ == "__main__":
    sys.exit(main())
