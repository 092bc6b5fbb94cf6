"""Answers are JSON whatever the client says it accepts; an event stream is asked for on its own resource."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class OnlyJson(BaseContentNegotiation):
    """Never answers 406."""

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        return next(iter(renderers)), "application/json"

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        return next(iter(parsers))
