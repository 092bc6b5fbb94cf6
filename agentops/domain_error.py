"""The root of every typed error that a door may show."""

from typing import Any, ClassVar


class DomainError(Exception):
    """Something was refused."""

    code: ClassVar[str] = "refused"

    def __init__(self, message: str = "", **details: Any) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.details = details
        super().__init__(self.message)
