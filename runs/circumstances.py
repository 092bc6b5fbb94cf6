"""What others may change while a run goes on, as it is now: the tenant, rights, policy, tools, credentials."""

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from pydantic import SecretStr

from agentops.tenancy.models import Tenant
from agentops.tenancy.scopes import in_common, scopes_of
from approvals.domain.policy import Policy, Preset
from runs.book import Rights, ToolNow
from tools.call import PinnedTool
from tools.credentials import opened
from tools.domain.canonical import parse
from tools.registry import assemble, current_versions

MEMBERS = """active_member AS NOT MATERIALIZED (
    SELECT m.tenant_id, m.user_id, m.roles FROM tenancy_membership m JOIN tenancy_user u ON u.id = m.user_id
    WHERE u.is_active
)"""
CREDENTIALS = """SELECT jsonb_agg(jsonb_build_array(c.id, c.name, encode(c.sealed, 'base64')))
FROM tools_credential c WHERE c.tenant_id = {tenant}"""
PARTS = f"""
  'now', clock_timestamp(), 'tenant', jsonb_build_object('slug', t.slug, 'status', t.status),
  'tools', (SELECT jsonb_agg(jsonb_build_array(
                n.id, l.id, l.name, n.number, l.enabled, l.quarantined, n.schema_hash, true, l.gated))
            FROM tools_tool l JOIN tools_toolversion n ON n.tenant_id = l.tenant_id AND n.id = l.current_id
            WHERE l.tenant_id = r.tenant_id AND l.name = ANY (v.tools)),
  'credentials', ({CREDENTIALS.format(tenant="r.tenant_id")}),
  'policy', (SELECT jsonb_build_array(y.number, y.preset, y.rules, y.reconcile_quorum) FROM approvals_policyversion y
             WHERE y.tenant_id = r.tenant_id ORDER BY y.number DESC LIMIT 1),
  'has_key', r.key_id IS NOT NULL,
  'key', (SELECT jsonb_build_object('scopes', k.scopes, 'personal', k.user_id IS NOT NULL,
            'revoked', k.revoked_at IS NOT NULL, 'expired', k.expires_at <= clock_timestamp(),
            'disabled', c.disabled_at IS NOT NULL, 'roles', m.roles)
          FROM tenancy_apikey k LEFT JOIN tenancy_serviceaccount c ON c.id = k.service_account_id
          LEFT JOIN active_member m ON m.tenant_id = k.tenant_id AND m.user_id = coalesce(k.user_id, c.owner_id)
          WHERE k.id = r.key_id AND k.tenant_id = r.tenant_id),
  'member', (SELECT to_jsonb(m.roles) FROM active_member m
             WHERE m.tenant_id = r.tenant_id AND 'user:' || m.user_id::text = r.principal)
"""  # noqa: S608 - constants
OF_RUN = """
FROM runs_run r
JOIN runs_agentversion v ON v.tenant_id = r.tenant_id AND v.id = r.agent_version_id
JOIN tenancy_tenant t ON t.id = r.tenant_id
WHERE r.id = {run} AND r.tenant_id = {tenant}
"""


class Circumstances(TypedDict):
    """By their names in the book."""

    now: datetime
    tenant_slug: str
    tenant_active: bool
    rights: Rights
    policy: Policy
    tools: dict[str, ToolNow]
    readers: dict[str, PinnedTool]
    credentials: dict[str, SecretStr]


def circumstances(tenant_id: UUID, found: Mapping[str, Any]) -> Circumstances:
    """Out of what a statement with `PARTS` found."""
    tools = _tools(found["tools"] or [])
    return Circumstances(
        now=datetime.fromisoformat(found["now"]),
        tenant_slug=found["tenant"]["slug"],
        tenant_active=found["tenant"]["status"] == Tenant.ACTIVE,
        rights=_rights(found),
        policy=_policy(found["policy"]),
        tools=tools,
        readers=_readers_of(tenant_id, tools),
        credentials=credentials(tenant_id, found["credentials"]),
    )


def credentials(tenant_id: UUID, rows: Sequence[list[str]] | None) -> dict[str, SecretStr]:
    """Out of what `CREDENTIALS` found."""
    return {name: opened(tenant_id, UUID(row_id), base64.b64decode(sealed)) for row_id, name, sealed in rows or ()}


def _readers_of(tenant_id: UUID, tools: Mapping[str, ToolNow]) -> dict[str, PinnedTool]:
    """The tools that only probes call; a statement of its own, for agents that do not have them."""
    wanted = {probe for tool in tools.values() for probe in tool.pinned.spec.probe_tools()}
    missing = wanted - tools.keys()
    return current_versions(tenant_id, missing) if missing else {}


def _rights(found: Mapping[str, Any]) -> Rights:
    if not found["has_key"]:
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
