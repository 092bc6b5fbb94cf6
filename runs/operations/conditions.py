"""The conditions of a call: what must be read before it is proposed or claimed, and what was read of them."""

from runs.book import Book, ToolNow
from runs.models import Step
from runs.operations.readings import ProbeWanted, Reading, Readings, fresh
from tools.domain.errors import ExpressionFailed
from tools.domain.preconditions import probe_args


def place_of(step: Step) -> str:
    """Under which the readings for this step are known."""
    return f"{step.turn}.{step.index}"


def wanted_probes(book: Book, place: str, tool: ToolNow, args: object) -> list[ProbeWanted]:
    """What must be read before this call may be proposed or claimed."""
    wanted = []
    for condition in tool.pinned.spec.preconditions:
        try:
            read_with = probe_args(condition, args)
        except ExpressionFailed:
            read_with = {}
        reader = book.reader(condition.probe.tool)
        wanted.append(
            ProbeWanted(place, condition, reader, read_with, book.run.tenant_id, book.run.id, book.known_secrets)
        )
    return wanted


def taken_for(book: Book, step: Step, tool: ToolNow, readings: Readings) -> list[Reading]:
    """The reading of each condition, noted in the log; one that is missing says so."""
    place = place_of(step)
    taken = [
        fresh(readings, place, condition.name) or Reading(place, condition.name, None, book.now, "it was not read")
        for condition in tool.pinned.spec.preconditions
    ]
    if taken:
        book.note("probed", step=str(step.id), conditions=[[r.name, r.value, r.fault] for r in taken])
    return taken
