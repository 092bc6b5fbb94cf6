"""Tools in code: the function runs in a thread that has nothing else to do, so that its time can be limited."""

import json
import logging
import threading
from contextvars import copy_context
from functools import partial
from typing import Any

from django.db import connections
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from tools.call import CancelSignal, ToolCall
from tools.declare import CodeTool, ToolActor, ToolContext, declared
from tools.domain.answer import Answer
from tools.domain.canonical import parse
from tools.domain.errors_values import InvalidJson
from tools.domain.outcome import Failed, Outcome, ToolFault, Unknown
from tools.kinds.exact_models import validated
from tools.kinds.threads import in_thread

GRACE_SECONDS = 0.5
_log = logging.getLogger(__name__)


def run(call: ToolCall, seconds: float) -> Answer | Outcome:
    """Call the function and wait for it. When it overruns, its signal is raised and, after a grace, it is abandoned.

    Whatever the function raises is raised here.
    """
    config = call.tool.spec.python
    code = declared().get(config.function) if config is not None else None
    if code is None:
        return Failed(ToolFault("tool_failed", "The code of this tool is not installed here."))
    try:
        args = validated(code.takes, call.args)
    except ValidationError as error:
        return Failed(ToolFault("invalid_arguments", _places(error)))
    work = _Work(code, args, _context(call))
    how = work.within(seconds, call.cancelled)
    if how == "done":
        return work.answer()
    return _overrun(call, how)


def _overrun(call: ToolCall, how: str) -> Outcome:
    _log.warning("tool %s did not stop when told to (%s); its thread is abandoned", call.tool.name, how)
    message = "The call was cancelled while it ran." if how == "cancelled" else "The tool overran its time."
    if call.tool.spec.is_mutation:
        return Unknown(f"{how}: {message} It may have acted.")
    return Failed(ToolFault(how, message, retryable=how == "timeout"))


class _Work:
    def __init__(self, code: CodeTool, args: BaseModel, context: ToolContext) -> None:
        self._code, self._args, self._context = code, args, context
        self._woken = threading.Event()
        self._done = threading.Event()
        self._result: BaseModel | None = None
        self._raised: BaseException | None = None

    def within(self, seconds: float, cancelled: CancelSignal) -> str:
        """`done`, or why it was told to stop without stopping: `cancelled` or `timeout`."""
        in_thread(partial(copy_context().run, self._work))
        cancelled.call_back(self._woken.set)
        try:
            self._woken.wait(seconds)
            if self._done.is_set():
                return "done"
            self._context.cancelled.set()
            return "done" if self._done.wait(GRACE_SECONDS) else "cancelled" if cancelled.is_set() else "timeout"
        finally:
            cancelled.forget(self._woken.set)

    def answer(self) -> Answer:
        """The result as exact JSON; raises what the function raised."""
        if self._raised is not None:
            raise self._raised
        if not isinstance(self._result, self._code.gives):
            return Answer(fault=ToolFault("invalid_result", "The tool gave something else than its declared model."))
        try:
            return Answer(parse(json.dumps(self._result.model_dump(mode="json", by_alias=True))))
        except (InvalidJson, PydanticSerializationError, ValueError):
            return Answer(fault=ToolFault("invalid_result", "The result of the tool is not usable JSON."))

    def _work(self) -> None:
        threading.current_thread().name = f"tool-{self._code.spec.name}"
        try:
            self._result = self._code.function(self._args, self._context)
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting thread and judged there
            self._raised = error
        finally:
            connections.close_all()
            self._done.set()
            self._woken.set()


def _context(call: ToolCall) -> ToolContext:
    return ToolContext(
        run_id=str(call.run_id),
        tenant_id=str(call.tenant_id),
        actor=ToolActor(call.actor_sub, call.scopes),
        idempotency_key=call.idempotency_key,
        deadline=call.deadline,
        cancelled=CancelSignal(),
        credential=call.credential,
        traceparent=call.traceparent,
    )


def _places(error: ValidationError) -> str:
    found: list[Any] = error.errors(include_input=False, include_url=False)
    return "; ".join(f"/{'/'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in found[:5])
