"""The last time that a worker of each queue was seen to work."""

from django.db import models


class Pulse(models.Model):
    """Written by a task that went all the way through the broker: alive means working."""

    queue = models.TextField(primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.queue
