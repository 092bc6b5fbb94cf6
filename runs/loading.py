"""Opens a run under its lock: two statements, whatever the run holds."""

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import SecretStr

from agentops.tenancy.models import Tenant
from agentops.tenancy.scopes import in_common, scopes_of
from approvals.domain.policy import Policy, Preset
from approvals.models import ApprovalRequest, Decision
from runs.book import Book, Rights, ToolNow
from runs.domain.errors import RunNotFound
from runs.models import Agent, AgentVersion, Attempt, Proposal, Run, Step, WorkItem
from runs.rows import instance, preparing
from tools.call import PinnedTool
from tools.credentials import opened
from tools.domain.canonical import parse
from tools.registry import assemble, current_versions
from tools.workflow_handles import lock_handle

_ENTER = """
WITH picked AS MATERIALIZED (
    SELECT id, tenant_id, queue, due_at, cancel_requested FROM runs_work_item WHERE {which}
)
SELECT id, tenant_id, queue, due_at, cancel_requested, set_config('app.tenant', tenant_id::text, true),
  set_config('plan_cache_mode', 'force_generic_plan', true) FROM picked
"""
"""Left to choose, Postgres may plan what follows for each run anew: all of it goes by keys, and planning costs most."""
_LOCK = _ENTER.format(which="id = %s AND tenant_id = %s FOR UPDATE")
_PICK_HINTED = _ENTER.format(which="id = %s AND queue = %s AND due_at <= clock_timestamp() FOR UPDATE SKIP LOCKED")
_PICK_NEXT = _ENTER.format(
    which="queue = %s AND due_at <= clock_timestamp() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED"
)

# Each part goes from what is one run's to what hangs on it, also where no statistics tell Postgres that it must.
_LOAD = """
WITH asked AS MATERIALIZED (
    SELECT q.* FROM approvals_approvalrequest q
    WHERE q.run_id = %s AND q.tenant_id = %s AND q.status IN ('pending', 'approved')
), active_member AS NOT MATERIALIZED (
    SELECT m.tenant_id, m.user_id, m.roles FROM tenancy_membership m JOIN tenancy_user u ON u.id = m.user_id
    WHERE u.is_active
)
SELECT jsonb_build_object(
  'run', to_jsonb(r), 'agent', to_jsonb(v), 'tenant', jsonb_build_object('slug', t.slug, 'status', t.status),
  'now', clock_timestamp(),
  'steps', (SELECT jsonb_agg(to_jsonb(s) || jsonb_build_object('charge_money', s.charge_money::text)
                             ORDER BY s.turn, s.index) FROM runs_step s
            WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id),
  'proposals', (SELECT jsonb_agg(to_jsonb(p) - 'sealed' || jsonb_build_object('sealed', encode(p.sealed, 'base64')))
                FROM runs_proposal p JOIN runs_step s ON s.tenant_id = p.tenant_id AND s.id = p.step_id
                WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id
                  AND s.status IN ('held', 'cleared', 'stale', 'running', 'unknown')),
  'attempts', (SELECT jsonb_agg(to_jsonb(a)) FROM runs_attempt a
               JOIN runs_step s ON s.tenant_id = a.tenant_id AND s.id = a.step_id
               WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id AND a.outcome IS NULL),
  'requests', (SELECT jsonb_agg(to_jsonb(q)) FROM asked q),
  'decisions', (SELECT jsonb_agg(d.told) FROM asked q, LATERAL (
                  SELECT to_jsonb(d) || jsonb_build_object('roles', m.roles) told FROM approvals_decision d
                  LEFT JOIN active_member m ON m.tenant_id = d.tenant_id AND m.user_id = d.user_id
                  WHERE d.tenant_id = q.tenant_id AND d.request_id = q.id OFFSET 0) d),
  'tools', (SELECT jsonb_agg(jsonb_build_array(
                n.id, l.id, l.name, n.number, l.enabled, l.quarantined, n.schema_hash, true, l.gated))
            FROM tools_tool l JOIN tools_toolversion n ON n.tenant_id = l.tenant_id AND n.id = l.current_id
            WHERE l.tenant_id = r.tenant_id AND l.name = ANY (v.tools)),
  'credentials', (SELECT jsonb_agg(jsonb_build_array(c.id, c.name, encode(c.sealed, 'base64')))
                  FROM tools_credential c WHERE c.tenant_id = r.tenant_id),
  'policy', (SELECT jsonb_build_array(y.number, y.preset, y.rules, y.reconcile_quorum) FROM approvals_policyversion y
             WHERE y.tenant_id = r.tenant_id ORDER BY y.number DESC LIMIT 1),
  'key', (SELECT jsonb_build_object('scopes', k.scopes, 'personal', k.user_id IS NOT NULL,
            'revoked', k.revoked_at IS NOT NULL, 'expired', k.expires_at <= clock_timestamp(),
            'disabled', c.disabled_at IS NOT NULL, 'roles', m.roles)
          FROM tenancy_apikey k LEFT JOIN tenancy_serviceaccount c ON c.id = k.service_account_id
          LEFT JOIN active_member m ON m.tenant_id = k.tenant_id AND m.user_id = coalesce(k.user_id, c.owner_id)
          WHERE k.id = r.key_id AND k.tenant_id = r.tenant_id),
  'member', (SELECT to_jsonb(m.roles) FROM active_member m
             WHERE m.tenant_id = r.tenant_id AND 'user:' || m.user_id::text = r.principal)
)::text
FROM runs_run r
JOIN runs_agentversion v ON v.tenant_id = r.tenant_id AND v.id = r.agent_version_id
JOIN tenancy_tenant t ON t.id = r.tenant_id
WHERE r.id = %s AND r.tenant_id = %s
"""


_AGENT = """
SELECT jsonb_build_object('agent', to_jsonb(a), 'version', to_jsonb(v), 'now', clock_timestamp(),
  'team', (SELECT b.budget FROM runs_teambudget b WHERE b.tenant_id = a.tenant_id))::text
FROM runs_agent a JOIN runs_agentversion v ON v.tenant_id = a.tenant_id AND v.id = a.current_id
WHERE a.tenant_id = %s AND a.slug = %s AND a.enabled
"""


@dataclass(frozen=True)
class AgentNow:
    """An enabled agent as it is at this moment, and its team's budget as stored."""

    agent: Agent
    version: AgentVersion
    team_budget: str
    at: datetime


def current_agent(tenant_id: UUID, slug: str) -> AgentNow | None:
    """None: the tenant has no enabled agent of this name."""
    with preparing() as cursor:
        cursor.execute(_AGENT, [tenant_id, slug])
        row = cursor.fetchone()
    if row is None:
        return None
    found = orjson.loads(row[0])
    agent, version = instance(Agent, found["agent"]), instance(AgentVersion, found["version"])
    return AgentNow(agent, version, found["team"] or "{}", datetime.fromisoformat(found["now"]))


def lock_run(tenant_id: UUID, run_id: UUID) -> WorkItem:
    """The run's lock, and its tenant entered, in one statement. Raises RunNotFound."""
    work = _locked(_LOCK, [run_id, tenant_id])
    if work is None:
        raise RunNotFound
    return work


def pick_due(queue: str, hint: UUID | None) -> WorkItem | None:
    """A run of this queue that is due and that nobody else holds, locked; the hinted one first."""
    if hint is not None and (hinted := _locked(_PICK_HINTED, [hint, queue])) is not None:
        return hinted
    return _locked(_PICK_NEXT, [queue])


def load(work: WorkItem) -> Book:
    """Everything about the locked run. The database's clock is the clock."""
    opened_at = time.monotonic()
    with preparing() as cursor:
        cursor.execute(_LOAD, [work.id, work.tenant_id] * 2)
        row = cursor.fetchone()
    if row is None:
        raise RunNotFound
    found = orjson.loads(row[0])
    book = Book(
        run=instance(Run, found["run"]),
        work=work,
        agent=instance(AgentVersion, found["agent"]),
        tenant_slug=found["tenant"]["slug"],
        tenant_active=found["tenant"]["status"] == Tenant.ACTIVE,
        rights=_rights(found),
        policy=_policy(found["policy"]),
        tools=_tools(found["tools"] or []),
        credentials=_credentials(work.tenant_id, found["credentials"] or []),
        now=datetime.fromisoformat(found["now"]),
        opened_at=opened_at,
    )
    _fill(book, found)
    book.readers = _readers_of(book)
    if book.run.workflow_at_id is not None:
        book.workflow = lock_handle(work.tenant_id, book.run.workflow_at_id)
    return book


def _readers_of(book: Book) -> dict[str, PinnedTool]:
    """The tools that only probes call; a statement of its own, for agents that do not have them."""
    wanted = {probe for tool in book.tools.values() for probe in tool.pinned.spec.probe_tools()}
    missing = wanted - book.tools.keys()
    return current_versions(book.run.tenant_id, missing) if missing else {}


def _fill(book: Book, found: Mapping[str, Any]) -> None:
    book.steps = [instance(Step, s) for s in found["steps"] or []]
    book.proposals = {p.step_id: p for p in (instance(Proposal, _unsealed(p)) for p in found["proposals"] or [])}
    book.attempts = {a.step_id: a for a in (instance(Attempt, a) for a in found["attempts"] or [])}
    book.requests = {q.id: q for q in (instance(ApprovalRequest, q) for q in found["requests"] or [])}
    for row in found["decisions"] or []:
        roles = frozenset(row.pop("roles") or [])
        decision = instance(Decision, row)
        book.decisions.append(decision)
        book.roles[decision.user_id] = roles


def _rights(found: Mapping[str, Any]) -> Rights:
    if found["run"]["key_id"] is None:
        roles = found["member"]
        return Rights(scopes_of(roles)) if roles else Rights(frozenset(), "the person is no longer a member.")
    key = found["key"]
    if key is None or key["revoked"]:
        return Rights(frozenset(), "its key was revoked.")
    if key["expired"]:
        return Rights(frozenset(), "its key has expired.")
    if key["disabled"]:
        return Rights(frozenset(), "its service account is disabled.")
    if not key["roles"]:
        return Rights(frozenset(), "the person who answers for it is no longer a member.")
    scopes = in_common(key["scopes"], scopes_of(key["roles"])) if key["personal"] else key["scopes"]
    return Rights(frozenset(scopes))


def _policy(row: list[Any] | None) -> Policy:
    if row is None:
        return Policy()
    number, preset, rules, quorum = row
    found = {"version": number, "preset": Preset(preset), "rules": parse(rules), "reconcile_quorum": quorum}
    return Policy.model_validate(found)


def _tools(rows: list[list[Any]]) -> dict[str, ToolNow]:
    found = assemble([[UUID(row[0]), UUID(row[1]), *row[2:]] for row in rows])
    return {tool.name: ToolNow(tool.enabled, tool.quarantined, tool) for tool in found}


def _credentials(tenant_id: UUID, rows: list[list[str]]) -> dict[str, SecretStr]:
    return {name: opened(tenant_id, UUID(row_id), base64.b64decode(sealed)) for row_id, name, sealed in rows}


def _locked(sql: str, params: list[Any]) -> WorkItem | None:
    with preparing() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    if row is None:
        return None
    return WorkItem(id=row[0], tenant_id=row[1], queue=row[2], due_at=row[3], cancel_requested=row[4])


def _unsealed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"sealed": base64.b64decode(row["sealed"]) if row["sealed"] else None}
