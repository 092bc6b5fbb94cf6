"""The places of a call's values, arranged for the page."""

from typing import Any

from agentops.web.display.fields import fields
from agentops.web.origins import FIRST_SHOWN, origins


def test_a_request_from_before_values_were_traced_has_none() -> None:
    assert origins(fields({"a": "text"}), None) is None


def test_doubtful_values_come_first_and_what_is_not_traced_is_counted() -> None:
    read: Any = {"source": "observation", "trust": "untrusted"}
    args = {f"k{n:02}": f"v{n}" for n in range(20)}
    traced = [{"path": f"/{key}", "found": [read] if key == "k19" else [{"source": "task"}, read]} for key in args]
    shown = origins(fields({**args, "yes": True}), traced)
    assert shown is not None
    assert (shown.doubtful, shown.untraced) == (1, 1)
    assert [origin.field.path for origin in shown.first[:3]] == ["k19", "k00", "k01"]
    assert (len(shown.first), len(shown.rest)) == (FIRST_SHOWN, 20 - FIRST_SHOWN)
