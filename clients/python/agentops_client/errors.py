"""What can become of a call other than its result."""

from typing import Any


class AgentOpsError(Exception):
    """The base of all of these; its text may be given to a model as it is."""


class Problem(AgentOpsError):
    """The server refused a request as a whole. `code` is the one of its problem+json, `status` that of HTTP."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.status, self.code, self.detail = status, code, detail


class Refused(AgentOpsError):
    """The call did not run: by a rule, by a person, or because nobody decided in time."""

    def __init__(self, refusal: dict[str, Any]) -> None:
        self.code: str = refusal["code"]
        self.message: str = refusal["message"]
        self.hint: str = refusal.get("hint") or ""
        self.retryable: bool = bool(refusal.get("retryable"))
        self.refusal = refusal
        super().__init__(f"{self.code}: {self.message} {self.hint}".strip())


class CallFailed(AgentOpsError):
    """The tool ran and definitely failed; its words are in the text."""


class UnknownOutcome(AgentOpsError):
    """The answer was lost; the run waits until a look-up or a person says what happened."""

    def __init__(self, tool: str) -> None:
        super().__init__(
            f"Nobody knows yet whether {tool} was done. Do not repeat it: the run waits until that is known."
        )


class StillWaiting(AgentOpsError):
    """A person has not decided within `wait` seconds. The same call again goes on waiting for the same approval."""

    def __init__(self, step: str, approval: str | None) -> None:
        super().__init__("A person has not decided yet. Make the same call again to go on waiting for it.")
        self.step, self.approval = step, approval
