"""When a key was last used: noted while it authenticates, written after the answer has left."""

from datetime import datetime, timedelta
from threading import Lock
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from agentops.tenancy.models import ApiKey

_EVERY = timedelta(minutes=1)
_lock = Lock()
_noted: set[UUID] = set()


def note_use(key_id: UUID, last_used_at: datetime | None) -> None:
    """Remembers that the key was used, at most once a minute."""
    if last_used_at is None or timezone.now() - last_used_at >= _EVERY:
        with _lock:
            _noted.add(key_id)


def write_noted_uses(**_: Any) -> None:
    """Writes what was noted; called when a request has finished, on no one's time."""
    if not _noted:
        return
    with _lock:
        ids = list(_noted)
        _noted.clear()
    due = Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - _EVERY)
    ApiKey.objects.filter(due, id__in=ids).update(last_used_at=Now())
    # Django has given this request's connection back already: what was taken for this write goes back as well.
    connection.close()
