"""DATABASES out of URLs: `default` is the plain role, `owner` migrates."""

from typing import Any
from urllib.parse import unquote, urlsplit

from agentops.env import Env


def connection_settings(env: Env) -> dict[str, dict[str, Any]]:
    """Both database aliases. Without URLs: the embedded server's socket in `agentops_home`."""
    socket = env.agentops_home / "postgres" / "socket"
    app = env.database_url or f"postgresql://agentops_app@/agentops?host={socket}"
    owner = env.database_owner_url or (f"postgresql://agentops_owner@/agentops?host={socket}" if not env.database_url else app)
    pool = {"min_size": 1, "max_size": 20, "timeout": 10}
    return {"default": _parsed(app) | {"OPTIONS": {"pool": pool}}, "owner": _parsed(owner)}


def _parsed(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or query.get("host", "")),
        "PORT": str(parts.port or query.get("port", "")),
        "ATOMIC_REQUESTS": False,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }
