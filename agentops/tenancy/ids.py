"""Row ids: UUIDv7, so that they sort by the time they were made."""

import uuid

from uuid_utils.compat import uuid7 as _uuid7


def uuid7() -> uuid.UUID:
    """A new id as the standard library's UUID."""
    return _uuid7()
