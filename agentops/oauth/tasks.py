"""Celery's side: one line."""

from celery import shared_task

from agentops.oauth import tidying


@shared_task(name="oauth.tidy")
def tidy() -> None:
    tidying.tidy()
