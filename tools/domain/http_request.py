"""Arguments into one HTTP request, pure, so that a dry run shows exactly what execution would send."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.domain.call_parts import HttpCall
from tools.domain.canonical import canonical
from tools.domain.filling import MISSING, PLACEHOLDER, at, scalar
from tools.domain.outcome import ToolError
from tools.domain.spec import ToolSpec

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What will be sent; `body` is canonical JSON or null. The bearer is added by the executor alone."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: str | None


def build(spec: ToolSpec, args: dict[str, Any], idempotency_key: str) -> HttpRequest:
    """The request of this call. Raises ToolError `invalid_arguments` for values that have no place in it."""
    http = _http(spec)
    how, _, name = spec.idempotency.partition(":")
    if how == "arg":
        args = args | {name: idempotency_key}
    filled = {key: _header(key, text, args) for key, text in http.headers.items()}
    headers = {key: value for key, value in filled.items() if value is not None}
    if how == "header":
        headers = {key: value for key, value in headers.items() if key.lower() != name.lower()}
        headers[name] = idempotency_key
    body = None if http.body is None else canonical(_body(http.body, args))
    headers.setdefault("Accept", "application/json")
    if body is not None:
        headers["Content-Type"] = "application/json"
    return HttpRequest(http.method, _url(http, args, spec), tuple(headers.items()), body)


def placeholders(http: HttpCall) -> Iterator[tuple[str, str]]:
    """Every `{path}` with the pointer of the text it stands in."""
    texts = [("/http/url", http.url)]
    texts += [(f"/http/headers/{name}", text) for name, text in http.headers.items()]
    texts += [(f"/http/query/{name}", text) for name, text in http.query.items()]
    texts += list(_body_texts(http.body, "/http/body"))
    for pointer, text in texts:
        for found in PLACEHOLDER.finditer(text):
            yield pointer, found[1]


def fixed_url(http: HttpCall) -> str:
    """The address with every placeholder filled in, to read its host from."""
    return PLACEHOLDER.sub("x", http.url)


def _http(spec: ToolSpec) -> HttpCall:
    if spec.http is None:
        raise ToolError("tool_failed", "This is not an HTTP tool.")
    return spec.http


def _url(http: HttpCall, args: dict[str, Any], spec: ToolSpec) -> str:
    if spec.egress_by_argument and PLACEHOLDER.fullmatch(http.url):
        url = _text(http.url, args)
    else:
        url = PLACEHOLDER.sub(lambda found: _segment(found[1], args), http.url)
    if any(part in (".", "..") for part in urlsplit(url).path.split("/")):
        raise ToolError("invalid_arguments", "A path segment may not be “.” or “..”.")
    pairs = [(name, _parameter(text, args)) for name, text in http.query.items()]
    query = urlencode([(name, value) for name, value in pairs if value is not None], quote_via=quote)
    return f"{url}{'&' if urlsplit(url).query else '?'}{query}" if query else url


def _segment(path: str, args: dict[str, Any]) -> str:
    text = scalar(path, at(path, args))
    if text == "":
        raise ToolError("invalid_arguments", f"{path} may not be empty here.")
    return quote(text, safe="")


def _parameter(template: str, args: dict[str, Any]) -> str | None:
    only = PLACEHOLDER.fullmatch(template)
    if only and at(only[1], args) in (None, MISSING):
        return None
    return _text(template, args)


def _header(name: str, template: str, args: dict[str, Any]) -> str | None:
    value = _parameter(template, args)
    if value is not None and (_CONTROL.search(value) or not value.isascii() or value != value.strip()):
        raise ToolError(
            "invalid_arguments",
            f"The value for the header {name} has characters that a header cannot hold.",
        )
    return value


def _body(value: Any, args: dict[str, Any]) -> Any:
    match value:
        case str():
            only = PLACEHOLDER.fullmatch(value)
            return at(only[1], args) if only else _text(value, args)
        case dict():
            filled = {key: _body(part, args) for key, part in value.items()}
            return {key: part for key, part in filled.items() if part is not MISSING}
        case list():
            return [part for part in (_body(part, args) for part in value) if part is not MISSING]
        case _:
            return value


def _body_texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _body_texts(part, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _body_texts(part, f"{pointer}/{index}")


def _text(template: str, args: dict[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda found: scalar(found[1], at(found[1], args)), template)
