"""What can keep the embedded product from starting, each with its remedy."""


class CannotStart(Exception):
    """Something outside the product must change first; the message says what."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code
