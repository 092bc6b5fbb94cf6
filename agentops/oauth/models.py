"""Which key the library's codes and tokens belong to; the key says whose they are, and whether they still count."""

import hashlib
from uuid import uuid4

from django.db import models
from django.db.models.functions import Now

from agentops.tenancy.models import ApiKey


class TokenFamily(models.Model):
    """One authorization code and every token that descends from it: `id` is the `token_family` of its refresh tokens.

    The code's hash outlives the code, so that a second use is seen.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    code_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.id)


def sha256(secret: str) -> str:
    """How codes and tokens are looked up."""
    return hashlib.sha256(secret.encode()).hexdigest()
