"""Whether this installation works: liveness, readiness by progress, and what must never be started."""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu import Connection
from kombu.exceptions import OperationalError

from agentops.env import env


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The web process lives."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """The database, the broker, beat and a worker answer; where not, which."""
    probes: dict[str, Callable[[], str]] = {"database": _database, "broker": _broker, "beat": _beat, "worker": _worker}
    found = {name: _answer(probe) for name, probe in probes.items()}
    ready = all(fault == "" for fault in found.values())
    # Without a sandbox commands are refused, and everything else works.
    body = {"ready": ready, **{name: fault or "ok" for name, fault in found.items()}, "sandbox": _answer(sandbox)}
    answer = JsonResponse(body, status=HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE)
    # Being asked often is its purpose: the answer is the report, and a line a second in the log is none.
    setattr(answer, "_has_been_logged", True)  # noqa: B010 - Django reads it, the stubs do not know it
    return answer


def refuse_unsafe_start() -> None:
    """Raise where this process must not serve: public key, or a role that bypasses row-level security."""
    if env().is_development_key and not settings.DEBUG:
        raise ImproperlyConfigured("SECRET_KEY is the public development key: set a long random value.")
    fault = unsafe_role()
    if fault:
        raise ImproperlyConfigured(f"{fault} Let DATABASE_URL name a plain role; DATABASE_OWNER_URL migrates.")


def unsafe_role() -> str:
    """What makes the role of DATABASE_URL unfit to serve; empty when nothing does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper, rolbypassrls, EXISTS"
            " (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE relkind IN ('r', 'p') AND pg_has_role(current_user, relowner, 'MEMBER')"
            " AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')) FROM pg_roles"
            " WHERE rolname = current_user"
        )
        is_super, bypasses, owns = cursor.fetchone() or (True, True, True)
    faults = {"is a superuser": is_super, "has BYPASSRLS": bypasses, "owns tables": owns}
    found = " and ".join(fault for fault, applies in faults.items() if applies)
    return f"The database role of DATABASE_URL {found}." if found else ""


def sandbox() -> str:
    """What commands have where they run, as the worker said that answered last."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT said FROM embedded_pulse WHERE queue = 'sandbox'")
        row = cursor.fetchone()
    return str(row[0]) if row else "no worker has said"


def _answer(probe: Callable[[], str]) -> str:
    try:
        return probe()
    except (DatabaseError, OperationalError, OSError) as error:
        return f"does not answer ({type(error).__name__})"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _broker() -> str:
    if settings.CELERY_BROKER_URL.startswith("pgmq"):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pgmq.meta")
            row = cursor.fetchone()
        return "" if row and row[0] else "has no queues: run `manage.py prepare`"
    with Connection(settings.CELERY_BROKER_URL, connect_timeout=2) as broker:
        broker.ensure_connection(max_retries=1, timeout=3)
    return ""


def _beat() -> str:
    silence = _silence("beat")
    return "has never ticked" if silence is None else _too_long(silence)


def _worker() -> str:
    silence = _silence("control")
    if silence is None:
        return "no worker has answered"
    # Beat asks them. Where it is missing, only work that waits says anything of the workers.
    return ("" if _beat() else _too_long(silence)) or _overdue()


def _silence(of: str) -> float | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM now() - at) FROM embedded_pulse WHERE queue = %s", [of])
        row = cursor.fetchone()
    return row and float(row[0])


def _too_long(silence: float) -> str:
    # Pulses come every 5 s and the sweep every 2 s: this long without either is a part that does not work.
    return f"silent for {silence:.0f} s" if silence > env().agentops_silent_seconds else ""


def _overdue() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT queue, extract(epoch FROM now() - min(due_at)) FROM runs_work_item"
            " WHERE due_at < now() - make_interval(secs => %s) GROUP BY queue ORDER BY 2 DESC LIMIT 1",
            [env().agentops_silent_seconds],
        )
        late = cursor.fetchone()
    return f"work in queue {late[0]} is {late[1]:.0f} s overdue" if late else ""
