"""Where the command palette leads: the places that this member may open."""

from dataclasses import dataclass

from django.apps import apps
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_WRITE, TOOLS_WRITE


@dataclass(frozen=True)
class Place:
    """One line of the palette."""

    label: str | Promise
    url: str


def places(actor: Actor) -> list[Place]:
    """In the order of the rail."""
    inbox, runs = reverse("inbox"), reverse("runs")
    found = [
        Place(_("Inbox: needs you"), inbox),
        Place(_("Inbox: all pending"), f"{inbox}?tab=pending"),
        Place(_("Inbox: unknown outcomes"), f"{inbox}?tab=unknown"),
        Place(_("Inbox: decided"), f"{inbox}?tab=decided"),
        *([Place(_("Start a run"), reverse("start"))] if actor.allows(RUNS_WRITE) else []),
        Place(_("Runs"), runs),
        Place(_("Runs that wait for a person"), f"{runs}?status=awaiting_approval"),
        Place(_("Runs that failed"), f"{runs}?status=failed"),
        Place(_("Tools"), reverse("tools")),
        Place(_("Workflows"), reverse("workflows")),
        Place(_("Settings: people and service accounts"), reverse("settings")),
        Place(_("Your API keys"), reverse("keys")),
        Place(_("Outside agents that were let in"), reverse("agents")),
        Place(_("Change password"), reverse("account_change_password")),
    ]
    if actor.allows(TOOLS_WRITE):
        found.append(Place(_("Administration: tools and agents"), reverse("admin:index")))
    if apps.is_installed("demo"):
        found.append(Place(_("Demo ledger"), reverse("demo-ledger")))
    return found
