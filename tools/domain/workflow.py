"""A workflow: a state machine, and the tools that are bound to its states."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tools.domain.call_parts import ToolName
from tools.domain.canonical import canonical
from tools.domain.errors import InvalidWorkflow, SpecFault
from tools.domain.faults import faults_of
from tools.domain.machine import Machine, read_machine
from tools.domain.statechart import initial_state, is_final, is_in, is_known, next_state

HANDLE_KEY = "run"
MAX_HANDLE = 200

Argument = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,59}$")]
StatePath = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Binding(_Part):
    """The tool is there in these states alone; when its call succeeded, `transition` is fired."""

    tool: ToolName
    states: Annotated[tuple[StatePath, ...], Field(min_length=1, max_length=200)]
    transition: str | None = Field(default=None, min_length=1, max_length=80)


class WorkflowSpec(_Part):
    """One version of a workflow. `state_handle_key`: the argument by which a call names its run."""

    name: ToolName
    description: str = Field(default="", max_length=4000)
    machine: dict[str, Any]
    bindings: Annotated[tuple[Binding, ...], Field(max_length=500)] = ()
    state_handle_key: Argument = HANDLE_KEY

    @cached_property
    def text(self) -> str:
        """The canonical text that is stored and hashed."""
        return canonical(self.model_dump(mode="python"))

    @cached_property
    def content_hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def chart(self) -> Machine:
        """The machine, read."""
        return read_machine(self.machine, self.name)[0]

    @cached_property
    def initial(self) -> str:
        """The state in which a handle begins."""
        return initial_state(self.chart)

    @cached_property
    def bound(self) -> Mapping[str, tuple[Binding, ...]]:
        """The bindings of each tool that has any."""
        names = dict.fromkeys(binding.tool for binding in self.bindings)
        return {name: tuple(binding for binding in self.bindings if binding.tool == name) for name in names}

    def is_final(self, state: str) -> bool:
        """Whether nothing follows this state."""
        return is_final(self.chart, state)

    def has(self, state: str) -> bool:
        """Whether a handle may stand there; this version may have lost a state that an earlier one had."""
        return is_known(self.chart, state)

    def way(self, tool: str, state: str) -> "Way | None":
        """What a successful call of a bound tool does in this state; None where it may not be called."""
        if not is_known(self.chart, state):
            return None
        for binding in self.bound.get(tool, ()):
            if not any(is_in(state, path) for path in binding.states):
                continue
            if binding.transition is None:
                return Way(None, None)
            if (target := next_state(self.chart, state, binding.transition)) is not None:
                return Way(binding.transition, target)
        return None


@dataclass(frozen=True, slots=True)
class Way:
    """The event that a call fires and the state that this leads to; neither where a call moves nothing."""

    event: str | None
    to: str | None


def parse_workflow(raw: Any) -> WorkflowSpec:
    """The definition in `raw` (exact JSON). Raises InvalidWorkflow with every fault found."""
    try:
        spec = WorkflowSpec.model_validate(raw)
    except ValidationError as error:
        raise InvalidWorkflow(faults_of(error)) from None
    machine, faults = read_machine(spec.machine, spec.name)
    faults += _binding_faults(spec, machine)
    if faults:
        raise InvalidWorkflow(faults)
    return spec


def _binding_faults(spec: WorkflowSpec, machine: Machine) -> list[SpecFault]:
    taken: dict[tuple[str, str], int] = {}
    faults = []
    for index, binding in enumerate(spec.bindings):
        for place, path in enumerate(binding.states):
            pointer = f"/bindings/{index}/states/{place}"
            faults += [SpecFault(pointer, text) for text in _state_faults(machine, binding, path)]
            if taken.setdefault((binding.tool, path), index) != index:
                faults.append(SpecFault(pointer, f"Another binding has {binding.tool} in {path} already."))
    return faults


def _state_faults(machine: Machine, binding: Binding, path: str) -> Iterator[str]:
    if path not in machine.states or not path:
        alike = [other for other in machine.states if other.rpartition(".")[2] == path.rpartition(".")[2] and other]
        yield f"There is no state {path!r}." + (f" Is it {' or '.join(alike)}?" if alike else "")
    elif binding.transition and not machine.answers(path, binding.transition):
        yield f"Nothing in {path} answers {binding.transition}: add it to `on`, or bind without a transition."
