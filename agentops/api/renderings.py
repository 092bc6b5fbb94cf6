"""How the API spells runs, steps, events, approvals, tools and agents; `workflow_documents` has workflows."""

from dataclasses import fields
from typing import Any

from agentops.api.answers import Raw
from approvals.models import ApprovalRequest
from approvals.queries import RequestRow
from runs.queries import Agent, Event, RunView, StepView
from tools.domain.canonical import canonical, parse
from tools.domain.outcome import Failed, NotSent, Succeeded, Unknown
from tools.domain.standing import Standing
from tools.dry_run import DryRun, WouldSend
from tools.queries import ToolRow, VersionRow


def run(view: RunView) -> dict[str, Any]:
    """A run."""
    row = view.run
    return {
        "id": row.id,
        "agent": row.agent_slug,
        "task": row.task,
        "input": Raw(row.input),
        "status": row.status,
        "terminal_reason": row.terminal_reason,
        "ended_because": row.ended_because,
        "turns": row.turns,
        "budget": view.budget,
        "tainted": row.tainted,
        "workflow": view.workflow and _standing(view.workflow),
        "created_at": row.created_at,
        "finished_at": row.finished_at,
        "answer": row.answer,
        "open_approvals": list(view.open_approvals),
        "started_by": row.started_by,
        "cancel_requested_at": row.cancel_requested_at,
        "trace_id": view.trace_id,
    }


def _standing(at: Standing) -> dict[str, Any]:
    return {"name": at.name, "handle": at.handle, "state": at.state, "revision": at.revision}


def step(view: StepView) -> dict[str, Any]:
    """A step with its verdict, attempts and observation."""
    row = view.step
    return {
        "id": row.id,
        "turn": row.turn,
        "index": row.index,
        "kind": row.kind,
        "status": row.status,
        "tool": row.tool,
        "tool_version": row.tool_version_number,
        "args": Raw(view.args_text),
        "fingerprint": row.fingerprint,
        "idempotency_key": row.idempotency_key,
        "refusal": view.refusal,
        "approval": row.request_id,
        "attempts": [
            {
                "number": a.number,
                "outcome": a.outcome,
                "detail": a.detail,
                "sandbox_level": a.sandbox_level,
                "started_at": a.started_at,
                "finished_at": a.finished_at,
            }
            for a in view.attempts
        ],
        "observation": view.observation,
        "created_at": row.created_at,
        "settled_at": row.settled_at,
    }


def event(row: Event) -> dict[str, Any]:
    """An event of a run's chain."""
    return {
        "seq": row.seq,
        "kind": row.kind,
        "actor": row.actor,
        "at": row.at,
        "data": Raw(row.data),
        "hash": row.hash,
        "prev_hash": row.prev_hash,
    }


def approval(row: RequestRow) -> dict[str, Any]:
    """An approval request: what was asked, what its conditions say, who may decide."""
    request = row.request
    snapshot: Any = parse(request.snapshot)
    args = canonical(snapshot["args"])
    return {
        "id": request.id,
        "run": request.run_id,
        "step": request.step_id,
        "tool": request.tool,
        "tool_version": snapshot["tool_version"],
        "risk": request.risk,
        "summary": request.summary,
        "target": snapshot["target"],
        "command": snapshot.get("command"),
        "args": Raw(args),
        "canonical": args,
        "digest": request.digest,
        "reasons": [*request.reasons, *([row.shortage] if row.shortage else [])],
        "preconditions": _conditions(request),
        "provenance": snapshot.get("provenance", []),
        "budget_effect": snapshot["budget"],
        "opened_at": request.opened_at,
        "expires_at": request.expires_at,
        "quorum": {"needed": request.quorum, "given": row.given},
        "can_decide": not row.cannot,
        "cannot_because": row.cannot or None,
        "status": request.status,
        "superseded_by": request.superseded_by,
        "changed": [{**c, "before": _value(c["before"]), "now": _value(c["now"])} for c in snapshot["changed"]],
    }


def tool(row: ToolRow) -> dict[str, Any]:
    """A tool with its current definition."""
    return {
        **row.spec.model_dump(mode="python"),
        "version": row.number,
        "version_id": row.version_id,
        "enabled": row.enabled,
        "quarantined": row.quarantined,
        "revision": row.revision,
        "content_hash": row.spec.content_hash,
        "updated_at": row.updated_at,
    }


def tool_version(row: VersionRow) -> dict[str, Any]:
    """One immutable version."""
    return {
        "id": row.id,
        "version": row.number,
        "content_hash": row.content_hash,
        "schema_hash": row.schema_hash,
        "current": row.current,
        "created_by": row.created_by,
        "created_at": row.created_at,
        "definition": row.spec.model_dump(mode="python"),
    }


def dry_run(tried: DryRun) -> dict[str, Any]:
    """What a try brought: faults, an outcome, or the request that would be sent."""
    body: dict[str, Any] = {
        "tool": tried.tool.name,
        "version": tried.tool.number,
        "errors": [{"pointer": f.pointer, "detail": f.detail} for f in tried.faults],
        "refused": tried.refused.as_json() if tried.refused else None,
        "would_send": _members(tried.would_send) if tried.would_send else None,
    }
    match tried.outcome:
        case None:
            return body | {"outcome": None}
        case Succeeded(result_text=text, fault=fault):
            return body | {"outcome": "succeeded", "result": Raw(text), "error": fault.as_json() if fault else None}
        case Failed(error):
            return body | {"outcome": "failed", "error": error.as_json()}
        case Unknown(reason):
            return body | {"outcome": "unknown", "error": {"message": reason}}
        case NotSent(reason):
            return body | {"outcome": "not_sent", "error": {"message": reason}}


def _members(row: WouldSend) -> dict[str, Any]:
    return {f.name: getattr(row, f.name) for f in fields(row)}


def agent(row: Agent) -> dict[str, Any]:
    """An agent with its current version."""
    current = row.current
    return {
        "slug": row.slug,
        "name": row.name,
        "description": row.description,
        "enabled": row.enabled,
        "version": current.number if current else None,
        "planner": current.planner if current else None,
        "tools": current.tools if current else [],
        "playbook": Raw(current.playbook) if current and current.playbook else None,
        "model": Raw(current.model) if current and current.model else None,
        "budget": Raw(current.budget) if current else None,
    }


def _conditions(request: ApprovalRequest) -> list[dict[str, Any]]:
    checks: Any = parse(request.checks)
    return [{**c, "before": _value(c["before"]), "now": _value(c["now"])} for c in checks]


def _value(text: str | None) -> Raw | None:
    return None if text is None else Raw(text)
