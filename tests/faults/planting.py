"""Puts something of the tests into a function's place, in a process that the tests started for it."""

from collections.abc import Callable
from typing import Any


def plant(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replace `owner.name` by what `make` gives for it; renamed code fails here and not silently."""
    setattr(owner, name, make(getattr(owner, name)))
