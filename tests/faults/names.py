"""The names of the points at which a worker can be ended; see points.py. Loads nothing of the product."""

POINTS = (
    "before_claim",
    "claim_uncommitted",
    "after_claim",
    "during_call",
    "after_call",
    "settle_uncommitted",
    "after_settle",
)
