"""Named points of a worker's segment at which it ends itself by kill -9, when a file arms one.

The product has no hooks for this: `install` wraps the functions that the segment goes through. A file
`armed/POINT.TOOL` is taken by one worker alone, which renames it to `fired/POINT.TOOL.PID`.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runs import execution, ledger
from runs.book import Book
from runs.models import Step
from runs.operations import advancing
from runs.operations.advancing import Execute
from runs.operations.claiming import Claimed
from tests.faults.planting import plant
from tools.domain.outcome import Outcome

_UNCOMMITTED = {
    "step.started": "claim_uncommitted",
    "step.restarted": "claim_uncommitted",
    "step.succeeded": "settle_uncommitted",
    "step.failed": "settle_uncommitted",
    "step.lost": "settle_uncommitted",
    "step.handed_back": "settle_uncommitted",
    "resend_due": "settle_uncommitted",
}


class Points:
    """The points of one worker; `folder` has `armed`, `fired` and the tool server's `arrived`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self) -> None:
        """Wrap what the worker calls."""
        plant(advancing, "claim", self._claiming)
        plant(ledger, "write", self._writing)
        plant(advancing, "begin", self._advancing)
        plant(advancing, "resume", self._advancing)
        plant(execution, "perform", self._performing)

    def reach(self, point: str, tool: str) -> None:
        """End this process here, if the point is armed."""
        if self._taken(point, tool):
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)

    def _taken(self, point: str, tool: str) -> bool:
        name = f"{point}.{tool}"
        try:
            (self.folder / "armed" / name).rename(self.folder / "fired" / f"{name}.{os.getpid()}")
        except FileNotFoundError:
            return False
        return True

    def _claiming(self, claim: Callable[..., Any]) -> Callable[..., Any]:
        def claims(book: Book, step: Step, *rest: Any) -> Any:
            self.reach("before_claim", step.tool)
            return claim(book, step, *rest)

        return claims

    def _writing(self, write: Callable[[Book], None]) -> Callable[[Book], None]:
        def writes(book: Book) -> None:
            write(book)
            tools = {str(step.id): step.tool for step in book.steps}
            for event in book.events:
                tool = next((name for step, name in tools.items() if step in event.data), "")
                self.reach(_UNCOMMITTED.get(event.kind, "elsewhere"), tool)

        return writes

    def _advancing(self, advance: Callable[..., Any]) -> Callable[..., Any]:
        def advances(*args: Any, **kwargs: Any) -> Any:
            found = advance(*args, **kwargs)
            if settled := kwargs.get("settled"):
                self.reach("after_settle", settled.call.tool.name)
            if isinstance(found, Execute):
                self.reach("after_claim", found.call.tool.name)
            return found

        return advances

    def _performing(self, perform: Callable[[Claimed], Outcome]) -> Callable[[Claimed], Outcome]:
        def performs(call: Claimed) -> Outcome:
            is_last = self._taken("during_call", call.tool.name)
            if is_last:
                threading.Thread(target=self._kill_on_arrival, args=(call,), daemon=True).start()
            outcome = perform(call)
            if is_last:  # the answer was quicker than the look at the world
                os.kill(os.getpid(), signal.SIGKILL)
            self.reach("after_call", call.tool.name)
            return outcome

        return performs

    def _kill_on_arrival(self, call: Claimed) -> None:
        args = call.args if isinstance(call.args, dict) else {}
        arrived = self.folder / "arrived" / str(args.get("ref"))
        while not arrived.exists():
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGKILL)
