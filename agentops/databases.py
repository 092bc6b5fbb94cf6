"""DATABASES out of URLs: `default` is the plain role, `owner` migrates."""

import hashlib
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from psycopg.conninfo import make_conninfo

from agentops.env import Env

# A socket's whole path may have 107 bytes; Postgres adds `/.s.PGSQL.5432`.
_LONGEST_FOLDER = 107 - len("/.s.PGSQL.5432")


def connection_settings(env: Env) -> dict[str, dict[str, Any]]:
    """Both database aliases. Without URLs: the embedded server's socket."""
    app = env.database_url or embedded_url(env.agentops_home, "agentops_app")
    owner = env.database_owner_url or env.database_url or embedded_url(env.agentops_home, "agentops_owner")
    pool = {"min_size": 1, "max_size": 20, "timeout": 10}
    default, migrating = _parsed(app), _parsed(owner)
    default["OPTIONS"] = default["OPTIONS"] | {"pool": pool}
    return {"default": default, "owner": migrating}


def embedded_url(home: Path, role: str) -> str:
    """How a role reaches the embedded server of `home`."""
    return f"postgresql://{role}@/agentops?host={socket_folder(home)}"


def socket_folder(home: Path) -> Path:
    """Where the embedded server's socket is: in `home`, or in a short folder when its path would be too long."""
    folder = home.absolute() / "postgres" / "socket"
    if len(str(folder).encode()) <= _LONGEST_FOLDER:
        return folder
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"agentops-{digest}"


def keyword_conninfo(database: dict[str, Any]) -> str:
    """One DATABASES entry as libpq keywords; pgmq's URL parser ignores `?host=`."""
    names = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    return make_conninfo("", **{key: database[name] for key, name in names.items() if database[name]})


def _parsed(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(parts.port or query.pop("port", "")),
        "OPTIONS": query,
        "ATOMIC_REQUESTS": False,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }
