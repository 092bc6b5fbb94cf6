"""Row ids: UUIDv7, so that they sort by the time they were made."""

import uuid
from datetime import datetime

from uuid_utils.compat import uuid7 as _uuid7


def uuid7() -> uuid.UUID:
    """A new id as the standard library's UUID."""
    return _uuid7()


def uuid7_floor(at: datetime) -> uuid.UUID:
    """The smallest id that could have been made at this moment."""
    return uuid.UUID(int=(int(at.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62))
