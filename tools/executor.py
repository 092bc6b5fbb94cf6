"""Run one tool call and say what became of it; the only place that catches every exception."""

import logging
import time
from typing import Any

from tools.call import CancelSignal, PinnedTool, ToolCall
from tools.domain import canonical
from tools.domain.answer import Answer
from tools.domain.errors_values import InvalidJson
from tools.domain.outcome import Failed, NotSent, Outcome, Succeeded, ToolError, ToolFault, Unknown
from tools.domain.schema import faults_in
from tools.domain.spec import ToolSpec
from tools.kinds import command, http, python
from tools.observation import observation_text
from tools.sandbox.level import level

__all__ = ["MAX_STORED_CHARACTERS", "CancelSignal", "PinnedTool", "ToolCall", "execute", "observation_text"]

MAX_STORED_CHARACTERS = 4_000_000
MAX_FAULT_CHARACTERS = 2_000
MAX_CODE = 60
_log = logging.getLogger(__name__)


def execute(call: ToolCall) -> Outcome:
    """Validate, run within the time that is left, and judge the answer. Never raises; holds no database connection.

    - Succeeded: the call was done. With `fault` the effect is certain and only the answer is unusable.
    - Failed: definitely not done. Unknown: a mutation that may have been done. NotSent: stopped before anything left.
    """
    stopped = _stopped_before(call)
    if stopped is not None:
        return stopped
    faults = faults_in(call.tool.spec.input_validator, call.args)
    if faults:
        where = "; ".join(f"{fault.pointer or '/'}: {fault.detail}" for fault in faults[:5])
        return Failed(ToolFault("invalid_arguments", where, hint="Send arguments that fit the input schema."))
    try:
        return _judged(call, _run(call))
    except ToolError as error:
        return Failed(_without_secret(error.fault, call))
    except Exception:  # noqa: BLE001 - a tool may fail in any way; nothing is thrown into the loop
        _log.error("tool %s stopped with an unhandled error", call.tool.name, exc_info=call.credential is None)
        return _unhandled(call)


def seconds_left(call: ToolCall) -> float:
    """The call's time: the tool's own limit or what is left until the deadline, whichever is shorter."""
    return min(call.tool.spec.timeout_ms / 1000, call.deadline - time.monotonic())


def sandbox_level(spec: ToolSpec) -> int | None:
    """The level of the sandbox that this machine has for the tool; None where it has none, or the tool needs none."""
    return (level().number or None) if spec.kind == "command" else None


def _stopped_before(call: ToolCall) -> Outcome | None:
    if call.cancelled.is_set():
        return NotSent("The call was cancelled before it started.")
    if seconds_left(call) <= 0:
        return NotSent("No time was left for the call.")
    return None


def _run(call: ToolCall) -> Answer | Outcome:
    match call.tool.spec.kind:
        case "http":
            return http.run(call, seconds_left(call))
        case "python":
            return python.run(call, seconds_left(call))
        case "command":
            return command.run(call, seconds_left(call))
        case kind:
            return Failed(ToolFault("tool_failed", f"Tools of the kind {kind} cannot run here."))


def _judged(call: ToolCall, answer: Answer | Outcome) -> Outcome:
    """The outcome of a call that was done: its answer must be JSON, of the right shape and not too large."""
    match answer:
        case Failed(error):
            return Failed(_without_secret(error, call))
        case Unknown() | NotSent() | Succeeded():
            return answer
        case Answer(fault=ToolFault() as fault):
            return _unusable(call, fault)
        case Answer(value=value):
            return _checked(call, value)


def _checked(call: ToolCall, value: Any) -> Outcome:
    try:
        text = canonical.canonical(value)
        if call.credential is not None and (secret := call.credential.get_secret_value()) in text:
            text = text.replace(secret, "⟦credential⟧")
            value = canonical.parse(text)
    except InvalidJson as error:
        return _unusable(call, ToolFault("invalid_result", f"The result is not usable JSON: {error.message}"))
    if len(text) > MAX_STORED_CHARACTERS:
        return _unusable(call, ToolFault("result_too_large", f"The result has {len(text)} characters."))
    spec = call.tool.spec
    faults = faults_in(spec.output_validator, value) if spec.output_schema else []
    if faults:
        where = "; ".join(f"{fault.pointer or '/'}: {fault.detail}" for fault in faults[:5])
        return _unusable(call, ToolFault("invalid_result", f"The result does not fit the output schema: {where}"))
    return Succeeded(value, text)


def _unusable(call: ToolCall, fault: ToolFault) -> Outcome:
    """A read gave nothing. A mutation is done all the same: saying *failed* would let it be made twice."""
    fault = _without_secret(fault, call)
    if not call.tool.spec.is_mutation:
        return Failed(fault)
    result = {"done": True, "fault": fault.as_json()}
    return Succeeded(result, canonical.canonical(result), fault)


def _unhandled(call: ToolCall) -> Outcome:
    message = "The tool stopped with an unhandled error."
    if call.tool.spec.is_mutation:
        return Unknown(f"tool_failed: {message} It may have acted.")
    return Failed(ToolFault("tool_failed", message))


def _without_secret(fault: ToolFault, call: ToolCall) -> ToolFault:
    """The fault as it may be kept: no credential, nothing that is not text, and not for ever."""
    secret = call.credential.get_secret_value() if call.credential is not None else None

    def clean(text: str) -> str:
        text = str(text).encode("utf-8", "backslashreplace").decode()
        return observation_text(text.replace(secret, "⟦credential⟧") if secret else text, MAX_FAULT_CHARACTERS)

    hint = clean(fault.hint) if fault.hint else fault.hint
    return ToolFault(clean(fault.code)[:MAX_CODE], clean(fault.message), bool(fault.retryable), hint)
