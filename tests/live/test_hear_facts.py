"""A socket tells members of one tenant which rows changed, and stops the moment they may no longer know."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from psycopg import Connection
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from agentops.live.consumer import NOT_ALLOWED
from agentops.tenancy.members import remove_member, set_roles
from tests.cast import Cast, Person
from tests.live.conftest import Listen
from tests.runs.gates import new_gate
from tests.runs.scenario import new_stage
from tools.operations import set_enabled

type SignIn = Callable[[Person], Client]
SOON = 20.0


def _leave(cast: Cast, client: Client) -> None:
    client.post("/account/logout/")


def _be_removed(cast: Cast, client: Client) -> None:
    remove_member(cast.carol.actor, user_id=cast.bob.user.id)


def _change_password(cast: Cast, client: Client) -> None:
    cast.bob.user.set_password("another")
    cast.bob.user.save()
    # Any word about the person makes the socket look again; without one it looks every half minute.
    set_roles(cast.carol.actor, user_id=cast.bob.user.id, roles=["approver", "viewer"])


@pytest.mark.parametrize("end", [_leave, _be_removed, _change_password])
def test_a_socket_ends_with_the_right_to_it(
    cast: Cast, sign_in: SignIn, listen: Listen, end: Callable[[Cast, Client], None]
) -> None:
    client = sign_in(cast.bob)
    socket, carols = listen(client), listen(sign_in(cast.carol))
    end(cast, client)
    with pytest.raises(ConnectionClosed) as closed:
        _hear_only(socket, "member")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == NOT_ALLOWED
    tool = new_stage(cast)
    set_enabled(tool.cast.carol.actor, "t_pay", enabled=False)
    while json.loads(carols.recv(SOON))["kind"] != "tool":
        pass


def test_a_changed_role_does_not_end_it(cast: Cast, sign_in: SignIn, listen: Listen) -> None:
    socket = listen(sign_in(cast.bob))
    set_roles(cast.carol.actor, user_id=cast.bob.user.id, roles=["approver", "viewer"])
    fact = json.loads(socket.recv(SOON))
    assert fact == {"type": "row.changed", "kind": "member", "id": str(cast.bob.user.id)}


def test_mallory_hears_only_of_her_own_tenant(cast: Cast, sign_in: SignIn, listen: Listen) -> None:
    theirs, ours = listen(sign_in(cast.mallory)), listen(sign_in(cast.bob))
    stage = new_stage(cast)
    run_id = stage.start(stage.external())
    while json.loads(ours.recv(SOON)) != {"type": "row.changed", "kind": "run", "id": str(run_id)}:
        pass
    set_roles(cast.mallory.actor, user_id=cast.mallory.user.id, roles=["owner", "viewer"])
    assert json.loads(theirs.recv(SOON)) == {"type": "row.changed", "kind": "member", "id": str(cast.mallory.user.id)}


def test_after_the_layer_lost_its_connection_pages_are_told_to_look_again_and_hear_what_follows(
    cast: Cast, sign_in: SignIn, listen: Listen, superuser: Connection[Any]
) -> None:
    socket = listen(sign_in(cast.bob))
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN channels_postgres%'"
    assert (True,) in superuser.execute(cut).fetchall()
    while json.loads(socket.recv(SOON)) != {"type": "facts.missed"}:
        pass
    stage = new_stage(cast)
    run_id = stage.start(stage.external())
    while json.loads(socket.recv(SOON)) != {"type": "row.changed", "kind": "run", "id": str(run_id)}:
        pass


def test_what_a_client_says_names_no_group(cast: Cast, sign_in: SignIn, listen: Listen) -> None:
    socket = listen(sign_in(cast.mallory))
    for said in (f"tenant.{cast.tenant.id}", json.dumps({"subscribe": str(cast.tenant.id)}), b"\x00"):
        socket.send(said)
    stage = new_stage(cast)
    stage.start(stage.external())
    set_roles(cast.mallory.actor, user_id=cast.mallory.user.id, roles=["owner", "viewer"])
    assert json.loads(socket.recv(SOON))["id"] == str(cast.mallory.user.id)


def test_strangers_are_told_to_sign_in(listen: Listen) -> None:
    with pytest.raises(ConnectionClosed) as closed:
        listen().recv(SOON)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == NOT_ALLOWED


@pytest.mark.parametrize("origin", ["https://evil.example", "null", None])
def test_a_page_from_elsewhere_opens_no_socket(cast: Cast, sign_in: SignIn, listen: Listen, origin: Any) -> None:
    with pytest.raises(InvalidStatus) as refused:
        listen(sign_in(cast.bob), origin=origin)
    assert refused.value.response.status_code == 403


def _hear_only(socket: ClientConnection, kind: str) -> None:
    while True:
        assert json.loads(socket.recv(SOON))["kind"] == kind


def test_a_move_of_a_workflow_is_told_by_its_handle(cast: Cast, sign_in: SignIn, listen: Listen) -> None:
    gate = new_gate(new_stage(cast))
    run_id, socket = gate.run(), listen(sign_in(cast.bob))
    gate.call(run_id, "invoice_submit")
    fact = {"type": "row.changed", "kind": "workflow", "id": str(gate.row().id)}
    while json.loads(socket.recv(SOON)) != fact:
        pass
