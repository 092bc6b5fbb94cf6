"""One request at this door: who came, to which address, with what, as handlers read it wherever they run."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from agentops.mcp.bearer import Bearer
from runs.offers import Offer

CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"


@dataclass(frozen=True)
class Visit:
    """`body`: the request's JSON with exact numbers; None where it could not be read so, `fault` says why.

    `agent`: the external agent that the caller named. `hold`: for how many seconds the caller bears to be held.
    `offer`: what may be called; None where it was not needed, or `unoffered` says why there is none.
    """

    token: str = field(repr=False)
    resource: str
    bearer: Bearer
    run_id: UUID | None = None
    agent: str = ""
    client: str = ""
    hold: float | None = None
    traceparent: str = ""
    body: dict[str, Any] | None = None
    fault: str = ""
    offer: Offer | None = None
    unoffered: str = ""

    @property
    def caller_trace(self) -> str:
        """The trace that the call belongs to: of the call itself, else of its HTTP request."""
        return str(self.meta.get("traceparent") or self.traceparent)

    @property
    def origin(self) -> str:
        """Where people reach this installation."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}"

    def param(self, name: str) -> Any:
        """One of the request's parameters, exact; None when there is none."""
        params = (self.body or {}).get("params")
        return params.get(name) if isinstance(params, dict) else None

    @property
    def meta(self) -> dict[str, Any]:
        """What the client said about its request."""
        found = self.param("_meta")
        return found if isinstance(found, dict) else {}

    @property
    def client_name(self) -> str:
        """What the client calls itself."""
        info = self.meta.get(CLIENT_INFO)
        name = info.get("name") if isinstance(info, dict) else None
        return str(name or self.client)


VISIT: Final[ContextVar[Visit]] = ContextVar("agentops_mcp_visit")


def here() -> Visit:
    """The request that is being served."""
    return VISIT.get()
