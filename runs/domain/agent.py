"""The definition of an agent, whole: what is validated, hashed and kept as one immutable version."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from runs.domain.budget import Limits
from runs.domain.errors import InvalidAgent
from runs.domain.model_spec import ModelSpec, check_model
from runs.domain.playbook import Playbook
from runs.domain.script import calls_of, checked_playbook
from tools.domain.call_parts import ToolName
from tools.domain.canonical import canonical
from tools.domain.errors import SpecFault
from tools.domain.faults import faults_of
from tools.domain.spec import ToolSpec

SLUG = r"^[a-z0-9][a-z0-9-]{0,59}$"
EMPTY_PLAYBOOK: dict[str, Any] = {"steps": [], "answer": "Done."}


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("U+0000 is not accepted here.")
    return text


_NoNul = AfterValidator(_without_nul)


class AgentSpec(BaseModel):
    """What people write. `playbook` and `model` count only for the planner of that name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug: Annotated[str, StringConstraints(pattern=SLUG)]
    name: Annotated[str, Field(min_length=1, max_length=100), _NoNul]
    description: Annotated[str, Field(max_length=4000), _NoNul] = ""
    planner: Literal["playbook", "model", "external"]
    tools: Annotated[tuple[ToolName, ...], Field(max_length=500)] = ()
    playbook: Any = None
    model: Any = None
    budget: Any = Field(default_factory=dict)


@dataclass(frozen=True)
class CheckedAgent:
    """A definition without faults of its own. `script` is there for a playbook, `model` for a model."""

    spec: AgentSpec
    script: Playbook | None
    limits: Limits
    model: ModelSpec | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What a version keeps; JSON as canonical text."""
        return {
            "planner": self.spec.planner,
            "playbook": canonical(self.spec.playbook) if self.script else "",
            "tools": sorted(set(self.spec.tools)),
            "budget": canonical(self.spec.budget or {}),
            **({"model": canonical(self.model.model_dump(exclude_none=True))} if self.model else {}),
        }

    @property
    def content_hash(self) -> str:
        """Two definitions are the same version iff this is the same."""
        return sha256(canonical(self.fields).encode()).hexdigest()


def check_agent(raw: Mapping[str, Any]) -> CheckedAgent:
    """The definition in `raw` (exact JSON). Raises InvalidAgent with every fault found."""
    faults: list[SpecFault] = []
    spec = script = limits = model = None
    try:
        spec = AgentSpec.model_validate(raw)
    except ValidationError as error:
        faults += faults_of(error)
    if raw.get("planner") == "playbook":
        script, found = _script(raw.get("playbook"))
        faults += found
    try:
        limits = Limits.model_validate({} if raw.get("budget") is None else raw["budget"])
    except ValidationError as error:
        faults += faults_of(error, "/budget")
    if raw.get("planner") == "model":
        model, found = check_model(raw.get("model"), limits)
        faults += found
    if spec is None or limits is None or faults:
        raise InvalidAgent(faults)
    return CheckedAgent(spec, script, limits, model)


def surroundings(agent: CheckedAgent, tools: Mapping[str, ToolSpec]) -> list[SpecFault]:
    """What is wrong with a definition in a team that has these tools."""
    return [*_unknown_tools(agent, tools), *_wrong_currency(agent, tools)]


def _script(raw: Any) -> tuple[Playbook | None, list[SpecFault]]:
    if raw is None:
        return None, [SpecFault("/playbook", 'A playbook is needed: {"steps": [{"tool", "args"}], "answer"}.')]
    return checked_playbook(raw)


def _unknown_tools(agent: CheckedAgent, tools: Mapping[str, ToolSpec]) -> Iterator[SpecFault]:
    for index, name in enumerate(agent.spec.tools):
        if name not in tools:
            yield SpecFault(f"/tools/{index}", f"There is no tool named {name}: register it first.")
    for place, call in calls_of(agent.script) if agent.script else ():
        if call.tool not in agent.spec.tools:
            yield SpecFault(f"{place}/tool", f"The agent does not have the tool {call.tool}: add it to its tools.")


def _wrong_currency(agent: CheckedAgent, tools: Mapping[str, ToolSpec]) -> Iterator[SpecFault]:
    money = agent.limits.money
    for name in agent.spec.tools if money else ():
        cost = tools[name].cost.money if name in tools else None
        if money and cost and isinstance(cost.currency, str) and cost.currency != money.currency:
            detail = f"The tool {name} costs {cost.currency}: give the budget in {cost.currency}."
            yield SpecFault("/budget/money/currency", detail)
