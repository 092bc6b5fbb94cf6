"""A test that cannot run is reported as such at a desk, and is a failure where everything must have been installed."""

import pytest

from tests.missing import not_here


def test_what_cannot_run_in_ci_fails_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="must run in CI: no browser"):
        not_here("no browser")


def test_what_cannot_run_elsewhere_is_reported_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        not_here("no browser")
