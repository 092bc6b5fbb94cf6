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
    # The backend prepares what travels together; psycopg would throw that away with its own at each rollback.
    default["OPTIONS"] |= {"prepare_threshold": None, "pool": pool}
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


def broker_options(redis_url: str, database: dict[str, Any], visibility: int = 60) -> dict[str, Any]:
    """Transport options of the broker; a message that nobody settled is visible again after `visibility` seconds."""
    if redis_url:
        # A broker that is away or hangs must not hold a request: the work is committed, and the sweep finds it.
        return {
            "visibility_timeout": visibility,
            "max_retries": 0,
            "socket_connect_timeout": 2,
            "socket_timeout": 5,
        }
    return {
        "conn_string": keyword_conninfo(database),
        "visibility_timeout": visibility,
        "use_notify": True,
        "wait_time_seconds": 0,
        "polling_interval": 5,
        "init_extension": False,
        "pool_size": 2,
        "pool_timeout": 10,
    }


def channel_layer(redis_url: str, database: dict[str, Any]) -> dict[str, Any]:
    """The live layer: Redis pub/sub, or the product's own database."""
    if redis_url:
        return {"BACKEND": "agentops.live.redis_layer.Layer", "CONFIG": {"hosts": [redis_url]}}
    # It wants every key that Django's own settings would have filled in.
    filled: dict[str, Any] = {
        "TIME_ZONE": None,
        "CONN_MAX_AGE": 0,
        "AUTOCOMMIT": True,
        "CONN_HEALTH_CHECKS": False,
        "TEST": {},
    }
    plain = {name: value for name, value in database["OPTIONS"].items() if name not in {"pool", "prepare_threshold"}}
    options = {"PSYCOPG_OPTIONS": {"min_size": 1, "max_size": 4}}
    return {"BACKEND": "agentops.embedded.layer.Layer", "CONFIG": {**database, **filled, **options, "OPTIONS": plain}}


def _parsed(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "agentops.postgres",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(parts.port or query.pop("port", "")),
        "OPTIONS": query,
        "ATOMIC_REQUESTS": False,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }
