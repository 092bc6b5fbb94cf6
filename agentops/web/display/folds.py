"""Keeps a page small however large the value: rows in pages, long texts in chunks, each opened on demand."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentops.web.display.fields import Field, fields
from tools.domain.canonical import Json

ROWS = 200
INLINE = 2_000
CHUNK = 32_768


@dataclass(frozen=True, slots=True)
class RowFold:
    """Rows `first` to `last` of a long table, counted from one."""

    first: int
    last: int
    total: int

    @property
    def id(self) -> str:
        """What the page reports once they were opened."""
        return f"rows {self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a long text; `next` is where the following part begins, None at the end."""

    fold: str
    text: str
    start: int
    stop: int
    bytes_before: int
    bytes_shown: int
    bytes_total: int

    @property
    def next(self) -> int | None:
        """Where to go on."""
        return self.stop if self.stop < len(self.text) else None


@dataclass(frozen=True, slots=True)
class Table:
    """The rows that a page shows at once and the folds that hold the others."""

    rows: Sequence[Field]
    more: Sequence[RowFold]


def table(found: Sequence[Field]) -> Table:
    """The first rows, and folds for the rest."""
    total = len(found)
    starts = range(ROWS, total, ROWS)
    return Table(found[:ROWS], [RowFold(at + 1, min(at + ROWS, total), total) for at in starts])


def fold_ids(found: Sequence[Field]) -> set[str]:
    """Everything that has to be opened before a person has seen every value."""
    return {field.path for field in found if field.fold} | {fold.id for fold in table(found).more}


def opened(value: Json, schema: object, fold: str, at: int = 0) -> Chunk | Sequence[Field] | None:
    """What a fold holds: rows, or the part of a text that begins at `at`; None for a fold that is not there."""
    found = fields(value, schema)
    for rows in table(found).more:
        if rows.id == fold:
            return found[rows.first - 1 : rows.last]
    return next((chunk(fold, field.text, at) for field in found if field.path == fold), None)


def chunk(fold: str, text: str, at: int = 0) -> Chunk:
    """The part of a text from `at`, at most 32,768 characters."""
    start = min(max(at, 0), len(text))
    stop = min(start + CHUNK, len(text))
    before, part = len(text[:start].encode()), len(text[start:stop].encode())
    return Chunk(fold, text, start, stop, before, part, len(text.encode()))
