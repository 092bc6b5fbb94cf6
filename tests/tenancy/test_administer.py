"""The admin shows staff their own tenant, and obeys the same operations as every other door."""

import pytest
from django.test import Client
from django.urls import reverse

from agentops.tenancy.access import authenticate_key
from agentops.tenancy.models import ApiKey, Membership, ServiceAccount, User
from tests.cast import Cast


def test_only_staff_of_the_tenant_get_in(cast: Cast) -> None:
    index = reverse("admin:index")
    assert cast.carol.signed_in().get(index).status_code == 200
    assert cast.alice.signed_in().get(index, follow=True).status_code == 403
    assert Client().get(index, follow=False).status_code == 302


def test_an_owner_sees_only_their_own_members_and_keys(cast: Cast) -> None:
    carol = cast.carol.signed_in()
    page = carol.get(reverse("admin:tenancy_membership_changelist")).content.decode()
    assert cast.alice.user.email in page
    assert cast.mallory.user.email not in page
    foreign = Membership.objects.get(tenant=cast.other_tenant, user=cast.mallory.user)
    answer = carol.get(reverse("admin:tenancy_membership_change", args=[foreign.id]))
    assert answer.status_code == 302
    keys = carol.get(reverse("admin:tenancy_apikey_changelist")).content.decode()
    assert cast.service.key.prefix in keys
    assert cast.other_service.key.prefix not in keys


def test_a_moment_is_written_as_on_the_other_pages(cast: Cast) -> None:
    page = cast.carol.signed_in().get(reverse("admin:tenancy_membership_changelist")).content.decode()
    joined = Membership.objects.get(tenant=cast.tenant, user=cast.bob.user).created_at
    assert f"{joined.day} {joined:%b %Y %H:%M:%S} UTC" in page


def test_a_member_is_added_given_roles_and_removed(cast: Cast) -> None:
    carol, email = cast.carol.signed_in(), f"dora@{cast.tenant.slug}.example"
    answer = carol.post(reverse("admin:tenancy_membership_add"), {"email": email.upper(), "roles": ["viewer"]})
    assert answer.status_code == 302, answer.content
    member = Membership.objects.get(tenant=cast.tenant, user=User.objects.get(email=email))
    change = reverse("admin:tenancy_membership_change", args=[member.id])
    assert carol.post(change, {"roles": ["approver", "viewer"]}).status_code == 302
    member.refresh_from_db()
    assert member.roles == ["approver", "viewer"]
    assert carol.post(reverse("admin:tenancy_membership_delete", args=[member.id]), {"post": "yes"}).status_code == 302
    assert not Membership.objects.filter(id=member.id).exists()


def test_what_an_operation_refuses_is_shown_on_the_form_and_changes_nothing(cast: Cast) -> None:
    mine = Membership.objects.get(tenant=cast.tenant, user=cast.carol.user)
    answer = cast.carol.signed_in().post(
        reverse("admin:tenancy_membership_change", args=[mine.id]), {"roles": ["viewer"]}
    )
    assert answer.status_code == 200
    assert "at least one owner" in answer.content.decode()
    mine.refresh_from_db()
    assert mine.roles == ["owner"]


def test_a_key_is_made_shown_once_and_revoked(cast: Cast) -> None:
    carol = cast.carol.signed_in()
    form = {"name": "ci", "service_account": str(cast.service.account.id), "scopes": "runs:read, ledger:read"}
    page = carol.post(reverse("admin:tenancy_apikey_add"), form, follow=True).content.decode()
    key = ApiKey.objects.get(tenant=cast.tenant, name="ci")
    raw = page.split("only once: ", 1)[1].split("<", 1)[0].strip()
    assert authenticate_key(raw).key_id == key.id
    assert raw not in carol.get(reverse("admin:tenancy_apikey_changelist")).content.decode()
    carol.post(reverse("admin:tenancy_apikey_changelist"), {"action": "revoke", "_selected_action": [str(key.id)]})
    key.refresh_from_db()
    assert key.revoked_at is not None


@pytest.mark.parametrize("scopes", ["approvals:decide", "*"])
def test_a_key_that_may_not_be_made_is_refused_on_the_form(cast: Cast, scopes: str) -> None:
    form = {"name": "bad", "service_account": str(cast.service.account.id), "scopes": scopes}
    answer = cast.carol.signed_in().post(reverse("admin:tenancy_apikey_add"), form)
    assert answer.status_code == 200
    assert not ApiKey.objects.filter(tenant=cast.tenant, name="bad").exists()


def test_a_service_account_is_made_and_disabled(cast: Cast) -> None:
    carol = cast.carol.signed_in()
    form = {"name": "nightly", "owner": str(cast.alice.user.id)}
    assert carol.post(reverse("admin:tenancy_serviceaccount_add"), form).status_code == 302
    account = ServiceAccount.objects.get(tenant=cast.tenant, name="nightly")
    assert account.owner == cast.alice.user
    chosen = {"action": "disable", "_selected_action": [str(account.id)]}
    carol.post(reverse("admin:tenancy_serviceaccount_changelist"), chosen)
    account.refresh_from_db()
    assert account.disabled_at is not None


def test_a_foreign_service_account_cannot_get_a_key(cast: Cast) -> None:
    form = {"name": "theft", "service_account": str(cast.other_service.account.id), "scopes": "runs:read"}
    assert cast.carol.signed_in().post(reverse("admin:tenancy_apikey_add"), form).status_code == 200
    assert not ApiKey.objects.filter(name="theft", tenant=cast.tenant).exists()
