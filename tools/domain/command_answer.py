"""What the end of a command says about a call: done, definitely not done, or impossible to tell."""

from signal import Signals

from tools.domain.answer import Answer
from tools.domain.call_parts import CommandCall
from tools.domain.canonical import parse
from tools.domain.errors_values import InvalidJson
from tools.domain.outcome import Failed, Outcome, ToolFault, Unknown
from tools.domain.spec import ToolSpec

MAX_PRINTED_BYTES = 4 * 1024 * 1024
_WORDS = 300
_BY_SIGNAL = 128


def reading(spec: ToolSpec, code: int, printed: bytes | None, said: bytes) -> Answer | Outcome:
    """The exit code decides whether the call was done.

    `printed`, `said`: its standard output, None when that was too long, and the end of its standard error.
    """
    command = spec.command or CommandCall(argv=("/",))
    if code == 0:
        return _value(command, printed)
    message = f"The command ended with {_exit(code)}{last_line(said)}."
    if spec.is_mutation and code not in command.not_applied:
        return Unknown(f"exit_{code}: {message} It may have acted.")
    return Failed(ToolFault("tool_failed", message))


def _value(command: CommandCall, printed: bytes | None) -> Answer:
    if printed is None:
        fault = f"The command printed more than {MAX_PRINTED_BYTES} bytes."
        return Answer(fault=ToolFault("result_too_large", fault))
    try:
        if command.output == "text":
            return Answer(printed.decode())
        if not printed.strip():
            return Answer(fault=ToolFault("invalid_result", "The command printed nothing where JSON was expected."))
        return Answer(parse(printed))
    except UnicodeDecodeError:
        return Answer(fault=ToolFault("invalid_result", "What the command printed is not UTF-8."))
    except InvalidJson as error:
        return Answer(fault=ToolFault("invalid_result", f"The command printed no usable JSON: {error.message}"))


def _exit(code: int) -> str:
    try:
        return f"exit code {code}, as one that {Signals(code - _BY_SIGNAL).name} killed"
    except ValueError:
        return f"exit code {code}"


def last_line(said: bytes) -> str:
    """What programs say last is mostly why: the planner needs it to recover."""
    line = said.decode(errors="replace").strip().rpartition("\n")[2].strip()
    return f": {line[:_WORDS].rstrip('.')}" if line else ""
