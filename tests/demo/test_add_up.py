"""The demo's command adds up exactly, and says why when it cannot."""

import pytest

from demo.report import DEFINITION
from tests.tools.calls import call_of
from tools.domain.checks import parse_spec
from tools.domain.outcome import Failed, Succeeded
from tools.executor import execute

pytestmark = pytest.mark.usefixtures("bubblewrap")

CSV = "item,amount\npaper,0.1\nink,12400.20\n"


def test_a_column_is_added_up_exactly() -> None:
    outcome = execute(call_of(parse_spec(DEFINITION), {"csv": CSV, "column": "amount"}))
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.result == {"rows": 2, "total": "12400.30"}


@pytest.mark.parametrize(("column", "why"), [("tax", "has a column tax"), ("item", "in item is a number")])
def test_what_cannot_be_added_up_is_said(column: str, why: str) -> None:
    outcome = execute(call_of(parse_spec(DEFINITION), {"csv": CSV, "column": column}))
    assert isinstance(outcome, Failed), outcome
    assert why in outcome.error.message
