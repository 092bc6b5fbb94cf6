"""Fixtures of the model planner's tests."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from pytest_django import Settings

from agentops.tenancy.actor import Actor
from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from runs.models import ModelRequest, Run, WorkItem
from runs.operations import advancing
from runs.operations.advancing import Think
from runs.operations.asking_model import Asked
from runs.operations.configuring import install_agent
from tests.cast import Cast
from tests.model_server import ModelServer
from tests.runs.scenario import TOOLS, Stage, new_stage


class Thinking(Stage):
    """A stage whose agent is planned for by a model."""

    settings: Settings

    def thinker(self, server: ModelServer, *, budget: Any = None, tools: Any = TOOLS, by: Actor | None = None,
                workflow: Any = None, **model: Any) -> UUID:  # fmt: skip
        """A run of an agent that asks this server, as alice or as `by`."""
        self.settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = server.host
        asked = {"provider": "compatible", "name": "stub", "base_url": server.url, **model}
        if asked["provider"] == "anthropic" and "base_url" not in model:
            asked["base_url"] = server.server.url().rstrip("/")
        install_agent(self.tenant_id, slug="thinker", name="Thinker", planner="model", tools=tools, model=asked,
                      budget=budget)  # fmt: skip
        return self.start("thinker", by=by, workflow=workflow)

    def calls(self, run_id: UUID) -> list[ModelRequest]:
        """Every request to the model, in order."""
        with tenant_transaction(self.tenant_id):
            return list(ModelRequest.objects.filter(run_id=run_id).order_by("number"))

    def again(self, run_id: UUID) -> None:
        """As if the pause before the next try were over."""
        with tenant_transaction(self.tenant_id):
            self._forget_pause(run_id)
        self.is_due(run_id)
        self.work(run_id)

    def _forget_pause(self, run_id: UUID) -> None:
        row = Run.objects.get(id=run_id)
        row.planner_state = re.sub(r'"retry_at":"[^"]*"', '"retry_at":""', row.planner_state)
        row.save(update_fields=["planner_state"])

    def due(self, run_id: UUID) -> Any:
        """When somebody looks at the run next."""
        return WorkItem.objects.get(id=run_id).due_at


@pytest.fixture
def stage(cast: Cast, settings: Settings) -> Thinking:
    made = new_stage(cast)
    thinking = Thinking(made.cast, made.account, made.world)
    thinking.settings = settings
    return thinking


def asked_only(run_id: UUID) -> Asked:
    """Take the run to the point where its model would be asked, as a worker that then dies."""
    found = advancing.begin("control", run_id, uuid7())
    assert isinstance(found, Think), found
    return found.asked


def lease_ends(stage: Thinking, run_id: UUID) -> None:
    """As if the time of the worker that asks had passed."""
    with tenant_transaction(stage.tenant_id):
        late = timezone.now() - timedelta(seconds=1)
        ModelRequest.objects.filter(run_id=run_id, outcome=None).update(lease_until=late)
    stage.is_due(run_id)
