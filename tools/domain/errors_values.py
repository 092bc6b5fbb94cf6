"""What can be wrong with a value, its schema or its text template; every fault names its place."""

from agentops.domain_error import DomainError


class InvalidJson(DomainError):
    """The text is not valid JSON."""

    code = "invalid_arguments"

    def __init__(self, pointer: str = "", detail: str = "") -> None:
        self.detail = detail or (type(self).__doc__ or "")
        super().__init__(
            f"{pointer or 'the document'}: {self.detail}",
            pointer=pointer,
            detail=self.detail,
        )
        self.pointer = pointer


class DuplicateKey(InvalidJson):
    """The key appears twice in one object."""


class NotFinite(InvalidJson):
    """NaN and infinities are not JSON numbers."""


class NumberTooLong(InvalidJson):
    """A number has at most 1,000 digits and an exponent of at most 308."""


class LoneSurrogate(InvalidJson):
    """Half of a surrogate pair is not text."""


class TooDeep(InvalidJson):
    """Values nest at most 64 levels deep."""


class TooManyLeaves(InvalidJson):
    """A document has at most 50,000 leaves."""


class NotAnObject(InvalidJson):
    """A JSON object is needed here."""


class NotExact(InvalidJson):
    """The value has no exact JSON form."""


class InvalidSchema(DomainError):
    """The schema is not a usable JSON Schema 2020-12."""

    code = "invalid_schema"

    def __init__(self, pointer: str = "", detail: str = "") -> None:
        self.detail = detail or (type(self).__doc__ or "")
        super().__init__(
            f"{pointer or 'the schema'}: {self.detail}",
            pointer=pointer,
            detail=self.detail,
        )
        self.pointer = pointer


class InvalidTemplate(DomainError):
    """The text template cannot be read."""

    code = "invalid_template"

    def __init__(self, position: int, detail: str) -> None:
        super().__init__(f"at character {position + 1}: {detail}", position=position, detail=detail)
        self.position = position
        self.detail = detail
