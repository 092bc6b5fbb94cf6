"""The last time that a worker of each queue, and beat, was seen to work."""

from django.db import models


class Pulse(models.Model):
    """Written by a task that went all the way through the broker, and by beat as `beat`: alive means working.

    `said`: of the queue `sandbox`, what commands have on the machine of the worker that answered last.
    """

    queue = models.TextField(primary_key=True)
    at = models.DateTimeField()
    said = models.TextField(default="", db_default="")

    def __str__(self) -> str:
        return self.queue
