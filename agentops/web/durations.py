"""How long something took or may take, in the two largest units."""

from decimal import Decimal

BRIEF = 0.05


def duration(seconds: Decimal) -> str:
    """Whole units: `18 min`, `1 h 30 min`, `24 h`."""
    left, found = int(seconds), []
    for unit, size in (("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            found.append(f"{count} {unit}")
    return " ".join(found[:2]) or "0 s"


def lasted(seconds: float) -> str:
    """The same, with tenths below a minute: `< 0.1 s`, `1.5 s`, `1 min 30 s`."""
    if seconds < BRIEF:
        return "< 0.1 s"
    return f"{seconds:.1f} s" if round(seconds, 1) < 60 else duration(Decimal(round(seconds, 1)))
