"""The Inbox: what waits for people, what nobody knows the outcome of, and what was decided."""

from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentops.tenancy.actor import Actor
from agentops.web.member import MemberRequest, member, show
from agentops.web.paging import next_page, read_cursor, write_cursor
from approvals.queries import requests, waiting_for
from runs.outcomes import inbox_counts, unknown_steps

TABS = ("mine", "pending", "unknown", "decided")
RISKS = ("", "read", "write", "destructive")


@require_safe
@member
def inbox(request: MemberRequest) -> HttpResponse:
    """One tab of the Inbox, filtered by the address."""
    return show(request, "approvals/inbox.html", _page(request.actor, request.GET), parts={"rows"})


@require_safe
@member
def inbox_count(request: MemberRequest) -> HttpResponse:
    """The number in the rail."""
    return render(request, "components/inbox_count.html", {"waiting": waiting_for(request.actor)})


def _page(actor: Actor, asked: QueryDict) -> dict[str, Any]:
    tab, risk, search = asked.get("tab", "mine"), asked.get("risk", ""), asked.get("q", "").strip()
    if tab not in TABS or risk not in RISKS or "\0" in search:
        raise BadRequest("unknown filter")
    after = read_cursor(asked.get("after", ""))
    counts = inbox_counts(actor)
    if tab == "unknown":
        page: Any = unknown_steps(actor, after=after)
    else:
        known = None if risk or search else {"mine": counts.mine, "pending": counts.pending}.get(tab)
        page = requests(actor, tab=tab, risk=risk, search=search, after=after, known_count=known)
    return {
        "waiting": counts.mine,
        "counts": counts,
        "tab": tab,
        "risk": risk,
        "search": search,
        "page": page,
        "is_filtered": bool(risk or search),
        "more": next_page(asked, write_cursor(page.after)),
        "is_first": after is None,
    }
