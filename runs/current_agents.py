"""An agent as a start finds it: its current version, its team's budget and credentials, in one statement."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from runs.circumstances import CREDENTIALS, credentials
from runs.models import Agent, AgentVersion
from runs.rows import ask, instance

_AGENT = f"""
SELECT jsonb_build_object('agent', to_jsonb(a), 'version', to_jsonb(v), 'now', clock_timestamp(),
  'team', (SELECT b.budget FROM runs_teambudget b WHERE b.tenant_id = a.tenant_id),
  'credentials', ({CREDENTIALS.format(tenant="a.tenant_id")}))::text
FROM runs_agent a JOIN runs_agentversion v ON v.tenant_id = a.tenant_id AND v.id = a.current_id
WHERE a.tenant_id = $1 AND a.slug = $2 AND a.enabled
"""  # noqa: S608 - constants


@dataclass(frozen=True)
class AgentNow:
    """An enabled agent as it is at this moment, its team's budget as stored, and the bearers that nobody may see."""

    agent: Agent
    version: AgentVersion
    team_budget: str
    known_secrets: frozenset[str] = field(repr=False)
    at: datetime


def current_agent(tenant_id: UUID, slug: str) -> AgentNow | None:
    """None: the tenant has no enabled agent of this name."""
    (found,) = ask((_AGENT, (str(tenant_id), slug)))
    if found is None:
        return None
    agent, version = instance(Agent, found["agent"]), instance(AgentVersion, found["version"])
    known = credentials(tenant_id, found["credentials"]).values()
    return AgentNow(
        agent,
        version,
        found["team"] or "{}",
        frozenset(secret.get_secret_value() for secret in known),
        datetime.fromisoformat(found["now"]),
    )
