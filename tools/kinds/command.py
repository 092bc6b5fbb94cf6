"""Commands: one program in a sandbox of its own, and the truth about whether it was started."""

import os
import time
from pathlib import Path

from tools.call import ToolCall
from tools.domain.answer import Answer
from tools.domain.command_answer import MAX_PRINTED_BYTES, last_line, reading
from tools.domain.command_line import build
from tools.domain.outcome import Failed, NotSent, Outcome, ToolError, ToolFault, Unknown
from tools.domain.spec import ToolSpec
from tools.sandbox.level import level
from tools.sandbox.process import Ended, run_inside

LEAST_LEVEL = 1


def run(call: ToolCall, seconds: float) -> Answer | Outcome:
    """Start the call's command and wait for its end within `seconds`.

    Raises ToolError for arguments without a place, and where this machine cannot start it.
    """
    spec, ends = call.tool.spec, time.monotonic() + seconds
    line = build(spec, call.args, call.idempotency_key)
    _check_machine(spec)
    _check_program(line.argv[0])
    left = ends - time.monotonic()
    if left <= 0:  # A worker that does not know its machine yet has looked at that first.
        return NotSent("No time was left to start the command.")
    ended = run_inside(line.argv, line.stdin.encode(), left, kept=MAX_PRINTED_BYTES, cancelled=call.cancelled)
    return _meaning(spec, ended, seconds)


def _check_machine(spec: ToolSpec) -> None:
    found, least = level(), max(LEAST_LEVEL, spec.min_sandbox_level)
    if found.number < least:
        message = f"The tool needs a sandbox of level {least}, and this machine has level {found.number}. {found.fault}"
        raise ToolError("sandbox_unavailable", message, retryable=True, hint=found.remedy)


def _check_program(path: str) -> None:
    """What is missing outside is missing inside, too; a command that cannot start has certainly not acted."""
    if not Path(path).resolve().is_relative_to("/usr") or not os.access(path, os.X_OK):
        raise ToolError("tool_failed", f"There is no program {path} on this machine.")


def _meaning(spec: ToolSpec, ended: Ended, seconds: float) -> Answer | Outcome:
    match ended.how:
        case "timeout":
            return _stopped(spec, "timeout", f"The command was stopped after {seconds:.1f} s.")
        case "cancelled":
            return _stopped(spec, "cancelled", "The call was cancelled, and the command stopped.")
        case "lost":
            return _stopped(spec, "tool_failed", "Something on this machine killed the sandbox.")
        case "unstarted":
            message = f"The sandbox could not be made{last_line(ended.stderr)}."
            return Failed(ToolFault("sandbox_unavailable", message, retryable=True))
        case "ended":
            return reading(spec, ended.code, None if ended.cut else ended.stdout, ended.stderr)


def _stopped(spec: ToolSpec, code: str, message: str) -> Outcome:
    if spec.is_mutation:
        return Unknown(f"{code}: {message} It may have acted.")
    return Failed(ToolFault(code, message, retryable=code == "timeout"))
