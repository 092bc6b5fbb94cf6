"""The demo's three runs: one waits for a person, one was approved and finished, one was refused."""

import logging
import time
from collections.abc import Callable
from uuid import UUID

from agentops.domain_error import DomainError
from agentops.tenancy.actor import Actor
from approvals import queries as requests
from approvals.domain.decision import Verdict
from demo.people import Cast
from demo.samples import FINISHED, REFUSED, WAITING
from runs import queries
from runs.operations.deciding import decide
from runs.operations.starting import start_run

_PAUSE = 0.1
_log = logging.getLogger(__name__)

type Answer = Callable[[UUID], None]


def tell(cast: Cast, *, seconds: float) -> None:
    """Start what was never started and decide what bob decides, until all has settled or the time is over."""
    approve, reject = _answer(cast.bob, Verdict.APPROVE), _answer(cast.bob, Verdict.REJECT)
    open_runs = {_run(cast.alice, FINISHED): approve, _run(cast.alice, REFUSED): reject}
    waiting = _run(cast.alice, WAITING)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        open_runs = {run_id: answer for run_id, answer in open_runs.items() if not _settled(cast.alice, run_id, answer)}
        if not open_runs and _is_asked(cast.alice, waiting):
            return
        time.sleep(_PAUSE)
    _log.warning("The demo's runs have not settled yet; they go on by themselves.")


def _run(alice: Actor, number: str) -> UUID:
    """The first run about this invoice."""
    task = f"Pay invoice {number}"
    if earlier := queries.runs(alice, search=task, size=1000).rows:
        return earlier[-1].run.id
    return start_run(alice, agent="demo", task=task, given={"invoice": number}, key=f"demo:{number}").run_id


def _settled(reader: Actor, run_id: UUID, answer: Answer) -> bool:
    view = queries.run(reader, run_id)
    for request_id in view.open_approvals:
        answer(request_id)
    return view.run.finished_at is not None


def _is_asked(reader: Actor, run_id: UUID) -> bool:
    view = queries.run(reader, run_id)
    return bool(view.open_approvals) or view.run.finished_at is not None


def _answer(bob: Actor, verdict: Verdict) -> Answer:
    reason = "That is not the account we know of this supplier." if verdict is Verdict.REJECT else ""

    def answer(request_id: UUID) -> None:
        digest = requests.request(bob, request_id).request.digest
        try:
            decide(bob, request_id, verdict=verdict, digest=digest, reason=reason)
        except DomainError as error:
            _log.info("The demo's decision was not taken: %s", error.message)

    return answer
