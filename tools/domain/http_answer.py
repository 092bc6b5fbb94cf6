"""What an HTTP answer says about a call: done, definitely not done, or impossible to tell."""

from typing import Any

from tools.domain import expressions
from tools.domain.answer import Answer
from tools.domain.call_parts import HttpCall
from tools.domain.canonical import parse
from tools.domain.errors import ExpressionFailed
from tools.domain.errors_values import InvalidJson
from tools.domain.outcome import Failed, Outcome, ToolFault, Unknown
from tools.domain.spec import ToolSpec

_RETRYABLE = frozenset({408, 425, 429})
_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 408: "timeout", 409: "conflict", 412: "conflict",
          425: "rate_limited", 429: "rate_limited"}  # fmt: skip
_NEVER_DONE = frozenset({501, 505})
_MAYBE_DONE_REDIRECTS = frozenset({301, 302, 303})
_WORDS = 300


def reading(spec: ToolSpec, status: int, body: bytes | None, fault: ToolFault | None = None) -> Answer | Outcome:
    """The status decides whether the call was done; `fault` says why there is no body to read."""
    http = spec.http or HttpCall(url="http://nowhere.invalid/")
    if status in http.success or (not http.success and 200 <= status < 300):
        return Answer(fault=fault) if fault is not None or body is None else _value(http, body)
    message = f"The server answered {status}{_detail(body)}."
    if 300 <= status < 400:
        return _redirect(spec, status)
    if status >= 500 and spec.is_mutation and status not in _NEVER_DONE and status not in http.not_applied:
        return Unknown(f"http_{status}: {message} The request may have been acted on.")
    if status < 300:
        return _unexpected(spec, message)
    code = _CODES.get(status, "rejected" if status < 500 else "upstream_error")
    return Failed(ToolFault(code, message, retryable=status in _RETRYABLE or status >= 500))


def _value(http: HttpCall, body: bytes) -> Answer:
    if not body.strip():
        return Answer(None)
    try:
        value = parse(body)
        return Answer(value if http.select is None else expressions.select(value, http.select))
    except InvalidJson as error:
        return Answer(fault=ToolFault("invalid_result", f"The answer is not usable JSON: {error.message}"))
    except ExpressionFailed as error:
        return Answer(fault=ToolFault("invalid_result", error.message))


def _redirect(spec: ToolSpec, status: int) -> Outcome:
    message = f"The server answered {status}: a redirect, which is never followed."
    if spec.is_mutation and status in _MAYBE_DONE_REDIRECTS:
        return Unknown(f"redirected: {message} Servers answer so after they have acted, too.")
    return Failed(ToolFault("redirected", message))


def _unexpected(spec: ToolSpec, message: str) -> Outcome:
    """A 2xx that the tool does not count as success."""
    if spec.is_mutation:
        return Unknown(f"unexpected_status: {message} The tool does not say what that means.")
    return Failed(ToolFault("unexpected_status", message))


def _detail(body: bytes | None) -> str:
    """What the server says in the usual places, shortened: the planner needs it to recover."""
    try:
        value: Any = parse(body) if body else None
    except InvalidJson:
        return ""
    if not isinstance(value, dict):
        return ""
    found = next((value[key] for key in ("detail", "message", "error", "title") if isinstance(value.get(key), str)), "")
    return f": {found[:_WORDS].rstrip('.')}" if found else ""
