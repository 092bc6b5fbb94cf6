"""What the process reads from its environment, once, as one frozen model."""

import os
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_CLONE = Path(__file__).resolve().parent.parent
_DEVELOPMENT_KEY = "development-only-key-that-is-refused-when-debug-is-off"


class Env(BaseModel):
    """Settings of one process; names are those of the environment variables, lower case."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, extra="ignore")

    agentops_home: Path = _CLONE / ".agentops"
    agentops_host: str = "127.0.0.1"
    agentops_port: int = 8000
    agentops_demo: bool = False
    agentops_beat: bool = False
    agentops_silent_seconds: int = Field(default=30, ge=1)
    agentops_visibility_seconds: int = Field(default=60, ge=1)
    agentops_https: bool = True
    agentops_trust_proxy: bool = False
    agentops_mcp_hold_seconds: float = Field(default=4.0, ge=0, le=600)
    agentops_mcp_idle_seconds: int = Field(default=3600, ge=1)
    agentops_static_root: Path | None = None
    agentops_signing_key: str = Field(default="", repr=False)
    agentops_workflow_store: Literal["postgres", "redis", "memory"] = "postgres"
    agentops_log: str = "INFO"
    agentops_log_plain: bool = False
    agentops_trace_content: bool = False
    agentops_metrics_token: str = Field(default="", repr=False)
    agentops_allowed_hosts: str = ""
    agentops_trusted_origins: str = ""
    agentops_allowed_private_hosts: str = ""
    agentops_oauth_registration: bool = True
    secret_key: str = Field(default=_DEVELOPMENT_KEY, repr=False)
    debug: bool = False
    database_url: str = Field(default="", repr=False)
    database_owner_url: str = Field(default="", repr=False)
    redis_url: str = Field(default="", repr=False)

    @property
    def is_development_key(self) -> bool:
        return self.secret_key == _DEVELOPMENT_KEY


@cache
def env() -> Env:
    """The environment of this process."""
    names = {name: os.environ[name.upper()] for name in Env.model_fields if name.upper() in os.environ}
    return Env.model_validate(names)
