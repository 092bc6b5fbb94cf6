"""The catalogue of tools: search, definition, versions, and a dry run."""

from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_http_methods, require_safe

from agentops.domain_error import DomainError
from agentops.health import sandbox
from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import TOOLS_READ, TOOLS_WRITE
from agentops.tenancy.transaction import tenant_transaction
from agentops.web.arguments import arguments, draft
from agentops.web.member import MemberRequest, member, show
from agentops.web.paging import next_page
from runs.queries import agents_using
from tools.domain.canonical import canonical, parse
from tools.dry_run import DryRun, dry_run
from tools.queries import find_tool, list_tools, list_versions

KINDS = ("", "python", "http", "command", "mcp")
RISKS = ("", "read", "write", "destructive")


@require_safe
@member
def tools_page(request: MemberRequest) -> HttpResponse:
    """Every tool by name, filtered by the address."""
    require_scope(request.actor, TOOLS_READ)
    return show(request, "tools/catalogue.html", _catalogue(request.actor, request.GET), parts={"rows"})


@require_http_methods(["GET", "HEAD", "POST"])
@member
def tool_page(request: MemberRequest, name: str) -> HttpResponse:
    """One tool; posting arguments tries it without an agent."""
    require_scope(request.actor, TOOLS_READ)
    context = _tool(request.actor, name)
    status = 200
    if request.method == "POST":
        tried = _try(request.actor, name, request.POST.get("args", ""))
        context |= tried
        status = 422 if tried["faults"] else 200
    return show(request, "tools/tool.html", context, status=status)


def _catalogue(actor: Actor, asked: QueryDict) -> dict[str, Any]:
    search, risk, kind = asked.get("q", "").strip(), asked.get("risk", ""), asked.get("kind", "")
    after = asked.get("after", "")
    if risk not in RISKS or kind not in KINDS or "\0" in search + after:
        raise BadRequest("unknown filter")
    with tenant_transaction(actor.tenant_id):
        page = list_tools(actor.tenant_id, search=search, risk=risk, kind=kind, after=after)
    return {
        "page": page,
        "search": search,
        "risk": risk,
        "kind": kind,
        "is_filtered": bool(search or risk or kind),
        "more": next_page(asked, page.next),
    }


def _tool(actor: Actor, name: str) -> dict[str, Any]:
    with tenant_transaction(actor.tenant_id):
        tool = find_tool(actor.tenant_id, name)
        versions = list_versions(actor.tenant_id, name)
    return {
        "tool": tool,
        "spec": tool.spec,
        "sandbox": sandbox() if tool.spec.command else "",
        "time_limit": tool.spec.timeout_ms / 1000,
        "versions": versions,
        "users": agents_using(actor, name),
        "schema": canonical(tool.spec.input_schema),
        "output": canonical(tool.spec.output_schema) if tool.spec.output_schema else "",
        "may_try": actor.allows(TOOLS_WRITE),
        "arguments": arguments(tool.spec.input_schema),
        "asked": draft(tool.spec.input_schema),
    }


def _try(actor: Actor, name: str, text: str) -> dict[str, Any]:
    told: dict[str, Any] = {"asked": text, "faults": [], "tried": None}
    try:
        args = parse(text or "{}")
        if not isinstance(args, dict):
            return told | {"faults": ["The arguments must be a JSON object."]}
        tried: DryRun = dry_run(actor, name, args)
    except DomainError as error:
        return told | {"faults": [error.message]}
    faults = [f"{fault.pointer}: {fault.detail}" if fault.pointer else fault.detail for fault in tried.faults]
    return told | {"faults": faults, "tried": None if faults else tried, "outcome": _outcome(tried)}


def _outcome(tried: DryRun) -> dict[str, Any]:
    name = type(tried.outcome).__name__ if tried.outcome else ""
    error = getattr(tried.outcome, "error", None) or tried.refused
    return {
        "name": name,
        "result": getattr(tried.outcome, "result_text", ""),
        "error": error,
        "reason": getattr(tried.outcome, "reason", ""),
    }
