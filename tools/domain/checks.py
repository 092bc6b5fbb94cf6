"""Everything a definition must hold before it is saved, each fault with its place."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from agentops.domain_error import DomainError
from tools.domain import expressions, templates
from tools.domain.call_parts import HttpCall
from tools.domain.command_checks import command_faults
from tools.domain.egress import HostRefused, destination
from tools.domain.errors import InvalidTool, SpecFault
from tools.domain.faults import faults_of
from tools.domain.filling import PLACEHOLDER
from tools.domain.http_request import fixed_url, placeholders
from tools.domain.schema import check_schema
from tools.domain.spec import Precondition, Reconcile, ToolSpec, ValueAt

type Faults = Iterator[SpecFault]

_OWN_HEADERS = frozenset(
    [
        "authorization",
        "host",
        "content-length",
        "content-type",
        "transfer-encoding",
        "connection",
        "cookie",
        "te",
        "upgrade",
        "trailer",
    ]
)


def parse_spec(raw: Any) -> ToolSpec:
    """The definition in `raw` (exact JSON). Raises InvalidTool with every fault found."""
    try:
        spec = ToolSpec.model_validate(raw)
    except ValidationError as error:
        raise InvalidTool(faults_of(error)) from None
    check(spec)
    return spec


def check(spec: ToolSpec) -> None:
    """Raises InvalidTool with every fault that the shape alone does not show."""
    faults = [fault for look in _CHECKS for fault in look(spec)]
    if faults:
        raise InvalidTool(faults)


def _schemas(spec: ToolSpec) -> Faults:
    yield from _tried("/input_schema", check_schema, spec.input_schema)
    if spec.input_schema.get("type") != "object":
        yield SpecFault("/input_schema/type", 'Arguments are an object: say "type": "object".')
    if spec.output_schema:
        yield from _tried("/output_schema", check_schema, spec.output_schema)


def _templates(spec: ToolSpec) -> Faults:
    names = frozenset({"args"})
    for field in ("resource_scope", "approval_summary"):
        template = getattr(spec, field)
        if template:
            yield from _tried(f"/{field}", templates.check, template, names)


def _idempotency(spec: ToolSpec) -> Faults:
    how, _, name = spec.idempotency.partition(":")
    if how == "header" and spec.kind != "http":
        yield SpecFault("/idempotency", "Only an HTTP tool has headers.")
    if how == "header" and name.lower() in _OWN_HEADERS:
        yield SpecFault("/idempotency", f"The header {name} cannot carry the key.")
    if how == "arg" and name in spec.input_schema.get("required", []):
        yield SpecFault(
            "/idempotency",
            f"The argument {name} is filled in by the engine and cannot be required.",
        )


def _costs(spec: ToolSpec) -> Faults:
    money = spec.cost.money
    if money and isinstance(money.currency, ValueAt) and money.currency.source == "result":
        yield SpecFault(
            "/cost/money/currency",
            "The currency must be known before the call: point into args.",
        )


def _preconditions(spec: ToolSpec) -> Faults:
    names = [precondition.name for precondition in spec.preconditions]
    for index, precondition in enumerate(spec.preconditions):
        pointer = f"/preconditions/{index}"
        if names.index(precondition.name) != index:
            yield SpecFault(f"{pointer}/name", "Another precondition has this name.")
        if precondition.probe.tool == spec.name:
            yield SpecFault(f"{pointer}/probe/tool", "A tool cannot be its own probe.")
        yield from _precondition(precondition, pointer)
    if spec.reconcile:
        yield from _reconcile(spec.reconcile)


def _reconcile(reconcile: Reconcile) -> Faults:
    names = ("args", "idempotency_key", "result")
    yield from _tried("/reconcile/succeeded", expressions.check_condition, reconcile.succeeded, names)
    if reconcile.failed is not None:
        yield from _tried("/reconcile/failed", expressions.check_condition, reconcile.failed, names)
    yield from _tried("/reconcile/result", expressions.check_jmespath, reconcile.result)
    yield from _probe_expressions(reconcile.probe.args, "/reconcile/probe/args", ("args", "idempotency_key"))


def _precondition(precondition: Precondition, pointer: str) -> Faults:
    yield from _tried(f"{pointer}/select", expressions.check_jmespath, precondition.select)
    if precondition.expect is not None:
        names = ("args", "before", "now")
        yield from _tried(f"{pointer}/expect", expressions.check_condition, precondition.expect, names)
    yield from _probe_expressions(precondition.probe.args, f"{pointer}/probe/args", ("args",))


def _probe_expressions(args: dict[str, Any], pointer: str, names: tuple[str, ...]) -> Faults:
    for place, source in expressions.sources(args, pointer):
        yield from _tried(place, expressions.check_names, source, names)


def _http(spec: ToolSpec) -> Faults:
    if spec.http is None:
        return
    yield from _http_placeholders(spec, spec.http)
    yield from _http_destination(spec, spec.http)
    for name in spec.http.headers:
        if name.lower() in _OWN_HEADERS or name.lower().startswith("proxy-"):
            yield SpecFault(f"/http/headers/{name}", "This header is not a tool's to set.")
    if spec.http.method == "GET" and spec.http.body is not None:
        yield SpecFault("/http/body", "A GET has no body.")
    if spec.http.select is not None:
        select = spec.http.select
        yield from _tried("/http/select", expressions.check_jmespath, select)


def _http_placeholders(spec: ToolSpec, http: HttpCall) -> Faults:
    known = spec.input_schema.get("properties")
    for pointer, path in placeholders(http):
        first, _, rest = path.partition(".")
        name = rest.partition(".")[0]
        if first != "args":
            yield SpecFault(pointer, f"{{{path}}}: only args.… can stand here.")
        elif not rest and not pointer.startswith("/http/body"):
            yield SpecFault(pointer, "All the arguments can only be a body.")
        elif rest and isinstance(known, dict) and name not in known and spec.idempotency != f"arg:{name}":
            yield SpecFault(pointer, f"The input schema has no property {name}.")


def _http_destination(spec: ToolSpec, http: HttpCall) -> Faults:
    if PLACEHOLDER.match(http.url):
        yield from _chosen_host(spec)
    elif PLACEHOLDER.search(re.split(r"[/?#]", http.url.partition("://")[2])[0]):
        yield SpecFault("/http/url", "The host and port cannot hold a placeholder.")
    else:
        yield from _fixed_host(spec, http)


def _chosen_host(spec: ToolSpec) -> Faults:
    if not spec.egress_by_argument:
        yield SpecFault("/http/url", "An argument chooses the host: say egress_by_argument.")
    elif not spec.egress:
        yield SpecFault("/egress", "An argument chooses the host: list the hosts it may choose.")
    if spec.credential is not None:
        yield SpecFault("/credential", "A tool whose host an argument chooses cannot have a credential.")


def _fixed_host(spec: ToolSpec, http: HttpCall) -> Faults:
    if urlsplit(http.url).fragment:
        yield SpecFault("/http/url", "A fragment is never sent.")
    try:
        host = str(destination(fixed_url(http)))
    except HostRefused as error:
        yield SpecFault("/http/url", error.message)
        return
    if spec.egress and host not in spec.egress:
        yield SpecFault("/egress", f"The tool's own {host} is not on its list.")


def _tried(pointer: str, check_it: Callable[..., None], *values: Any) -> Faults:
    try:
        check_it(*values)
    except DomainError as error:
        yield SpecFault(pointer + str(error.details.get("pointer", "")), error.message)


_CHECKS: tuple[Callable[[ToolSpec], Faults], ...] = (
    _schemas,
    _templates,
    _idempotency,
    _costs,
    _preconditions,
    _http,
    command_faults,
)
