"""What a planner had before it when it proposed a step: the task, the input, and what earlier steps brought back."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import F, Func, IntegerField, Sum, Window

from approvals.domain.provenance import MOST_READ, Source, trace
from runs.book import Book
from runs.masking import mask_result
from runs.models import Observation, Step
from tools.domain.canonical import Json, parse
from tools.domain.errors_values import InvalidJson
from tools.domain.secret_schemas import NOTHING_SECRET


def origins(book: Book, step: Step, args: Json) -> list[Json]:
    """Where each value of these (masked) arguments stands in that: see `approvals.domain.provenance.trace`."""
    # Everything here has marks for secrets, which are equal where the secrets are.
    task = mask_result(book.run.tenant_id, book.run.task, NOTHING_SECRET, book.known_secrets)
    given = [Source({"source": "task"}, task), Source({"source": "input"}, parse(book.run.input))]
    return trace(args, [*given, *_read(book, step)])


def _read(book: Book, step: Step) -> list[Source]:
    """The observations of earlier turns as the planner read them, the latest first; one turn proposes all at once."""
    earlier = {s.id: s for s in book.steps if s.turn < step.turn}
    stored = [step_id for step_id in earlier if step_id not in book.observations]
    found = {row.step_id: row for row in (*book.observations.values(), *_latest(step.tenant_id, stored))}
    return [_source(s, found[s.id]) for s in reversed(earlier.values()) if s.id in found]


def _latest(tenant_id: UUID, steps: Sequence[UUID]) -> Iterable[Observation]:
    """Those of these steps, from the last one back, until so much is read that what is older does not count."""
    if not steps:
        return ()
    size = Func("content", function="octet_length", output_field=IntegerField())
    newer = Window(Sum(size), order_by=[F("created_at").desc(), F("step_id").desc()]) - size
    rows = Observation.objects.filter(tenant_id=tenant_id, step_id__in=steps)
    return rows.annotate(newer=newer).filter(newer__lt=MOST_READ)


def _source(step: Step, row: Observation) -> Source:
    about: dict[str, Json] = {
        "source": "observation",
        "step": str(step.id),
        "turn": step.turn,
        "index": step.index,
        "tool": step.tool,
        "trust": row.trust,
    }
    return Source(about, _value(row.content))


def _value(content: str) -> Json:
    """A text that was cut is no JSON any more."""
    try:
        return parse(content)
    except InvalidJson:
        return content
