"""The list of runs."""

from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from agentops.tenancy.actor import Actor
from agentops.web.bars import bars
from agentops.web.member import MemberRequest, member, show
from agentops.web.paging import next_page, read_cursor, write_cursor
from runs import queries
from runs.domain.run import RunStatus

SHOWN_BARS = ("steps", "money")


@require_safe
@member
def runs_page(request: MemberRequest) -> HttpResponse:
    """Newest first, filtered by the address."""
    return show(request, "runs/list.html", _page(request.actor, request.GET), parts={"rows"})


def _page(actor: Actor, asked: QueryDict) -> dict[str, Any]:
    status, agent, search = asked.get("status", ""), asked.get("agent", ""), asked.get("q", "").strip()
    if (status and status not in set(RunStatus)) or "\0" in agent + search:
        raise BadRequest("unknown filter")
    after = read_cursor(asked.get("after", ""))
    page = queries.runs(actor, status=status, agent=agent, search=search, after=after)
    return {
        "page": page,
        "rows": [(view, bars(view.budget, keys=SHOWN_BARS)) for view in page.rows],
        "status": status,
        "statuses": [s.value for s in RunStatus],
        "agent": agent,
        "search": search,
        "is_filtered": bool(status or agent or search),
        "is_first": after is None,
        "more": next_page(asked, write_cursor(page.after)),
    }
