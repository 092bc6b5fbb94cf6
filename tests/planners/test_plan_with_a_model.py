"""A model plans: its calls are governed steps, its text is the end, and every digit it said is kept."""

import json
from typing import Any

import pytest
from pydantic import SecretStr

from agentops.tenancy.members import remove_member
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.model_spec import PROVIDERS as PROVIDERS_BY_NAME
from runs.domain.planning import MAX_PROPOSALS
from runs.models import Proposal
from tests.model_server import calling, model_serving, saying
from tests.planners.conftest import Thinking
from tests.tools.server import Behaviour
from tools.credentials import set_credential
from tools.domain.canonical import canonical, parse

PROVIDERS = ("compatible", "anthropic")
BIG = '{"text": "x", "meta": {"id": 9223372036854775807, "more": 123456789012345678901234567890, "part": 0.1, '
BIG += '"long": 1.00000000000000000001}}'


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_reads_pays_after_an_approval_and_ends(stage: Thinking, provider: str) -> None:
    account = stage.account
    with model_serving(
        calling(("t_read", {"account": account}), text="Let me look."),
        calling(("t_pay_plain", {"account": account, "amount": "5"})),
        saying("Paid 5."),
    ) as server:
        run_id = stage.thinker(server, provider=provider)
        stage.work(run_id)
        assert stage.run(run_id).status == "awaiting_approval"
        stage.approve(run_id)
        stage.work(run_id)
        said = server.said(1)
    run = stage.run(run_id)
    assert (run.status, run.answer, run.turns) == ("succeeded", "Paid 5.", 2)
    assert stage.statuses(run_id) == ["succeeded", "succeeded"]
    assert stage.world.paid[0][:2] == (account, "5")
    assert [call.outcome for call in stage.calls(run_id)] == ["answered"] * 3
    used, reserved = stage.budget(run_id)
    assert (used.tokens, used.steps, reserved.tokens) == (360, 3, 0)
    assert account in said
    assert "12400.00" in said
    assert "Let me look." in said


@pytest.mark.parametrize("provider", PROVIDERS)
def test_several_calls_of_one_answer_are_steps_of_one_turn(stage: Thinking, provider: str) -> None:
    read = ("t_read", {"account": stage.account})
    pay = ("t_pay_plain", {"account": stage.account, "amount": "5"})
    with model_serving(calling(read, pay, ("t_page", {"account": stage.account})), saying("Done.")) as server:
        run_id = stage.thinker(server, provider=provider)
        stage.work(run_id)
        assert [(s.turn, s.index, s.status) for s in stage.steps(run_id)] == [
            (1, 0, "succeeded"), (1, 1, "held"), (1, 2, "succeeded"),
        ]  # fmt: skip
        assert len(server.requests) == 1
        stage.approve(run_id)
        stage.work(run_id)
        last = server.prompts[1]["messages"]
    assert stage.run(run_id).status == "succeeded"
    results = [m for m in last if m["role"] == "tool"] or [b for b in last[2]["content"] if b["type"] == "tool_result"]
    assert len(results) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_digit_arrives(stage: Thinking, provider: str) -> None:
    with model_serving(calling(("t_note", BIG)), calling(("t_read", {"account": stage.account})), saying("Done.")) as s:
        run_id = stage.thinker(s, provider=provider)
        stage.work(run_id)
        stage.approve(run_id)
        stage.work(run_id)
        echoed = s.requests[1].body.decode().replace('\\"', '"')
    assert stage.run(run_id).status == "succeeded"
    shown = canonical(parse(BIG))
    with_args = next(p for p in _proposals(stage, run_id) if "meta" in (p.args or ""))
    assert with_args.args == shown
    for digits in ("9223372036854775807", "123456789012345678901234567890", "1.00000000000000000001", "0.1"):
        assert digits in echoed


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_schema_passes_as_it_is_defined(stage: Thinking, provider: str) -> None:
    schema = (
        '{"$defs": {"M": {"type": "object", "properties": {"x": {"multipleOf": 0.01, "maximum": 9.00000000000000000001,'
        ' "default": 18446744073709551615}}}}, "type": "object", "properties": {"m": {"$ref": "#/$defs/M"},'
        ' "kind": {"anyOf": [{"const": "a"}, {"type": "null"}], "title": "Kind"}}, "additionalProperties": false}'
    )
    name = stage.tool({
        "name": "exact_tool", "description": "Says.", "kind": "http", "risk": "read", "required_scope": "ledger:read",
        "input_schema": parse(schema), "http": {"method": "GET", "url": "https://example.com/"},
    })  # fmt: skip
    with model_serving(saying("Done.")) as server:
        stage.work(stage.thinker(server, provider=provider, tools=(name,)))
        sent: Any = parse(server.requests[0].body)
        (tool,) = sent["tools"]
    told = tool["input_schema"] if provider == "anthropic" else tool["function"]["parameters"]
    assert canonical(told) == canonical(parse(schema))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_cannot_be_read_is_a_refused_step_that_the_model_corrects(stage: Thinking, provider: str) -> None:
    twice = '{"account": "a", "account": "b"}'
    with model_serving(
        calling(("t_read", twice)),
        calling(("t_read", {"account": 5})),
        calling(("nothing_here", {}), ("t_read", {"account": stage.account})),
        saying("Done."),
    ) as server:
        run_id = stage.thinker(server, provider=provider)
        stage.work(run_id)
        assert "/account" in server.said(2)
        assert "tool_denied" in server.said(3)
    assert stage.run(run_id).status == "succeeded"
    codes = [stage.refusal(s)["code"] for s in stage.steps(run_id) if s.status == "refused"]
    assert codes == ["invalid_arguments", "invalid_arguments", "tool_denied"]
    assert stage.steps(run_id)[0].fingerprint is None


BAD: dict[str, Behaviour] = {
    "nothing": saying(""),
    "cut": saying("half an", finish="length"),
    "both": calling(("t_read", {"account": "x"}), text="Done.", finish="stop"),
    "too many": calling(*[("t_read", {"account": "x"})] * (MAX_PROPOSALS + 1)),
}


@pytest.mark.parametrize("bad", BAD)
def test_an_unusable_answer_is_sent_back_and_repaired(stage: Thinking, bad: str) -> None:
    with model_serving(BAD[bad], saying("Done.")) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
        assert "planner_invalid" in server.said(1)
        assert "hint" in server.said(1)
    assert stage.run(run_id).answer == "Done."
    assert stage.steps(run_id) == []
    assert [c.outcome for c in stage.calls(run_id)] == ["unusable", "answered"]


@pytest.mark.parametrize("bad", ["nothing", "both"])
def test_endless_unusable_answers_end_the_run(stage: Thinking, bad: str) -> None:
    with model_serving(BAD[bad]) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
        assert len(server.requests) == 4
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "planner_invalid")
    assert stage.budget(run_id)[0].tokens == 4 * 120


def test_endless_invalid_arguments_end_the_run(stage: Thinking) -> None:
    with model_serving(calling(("t_read", {"account": 5}))) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
    run = stage.run(run_id)
    assert (run.terminal_reason, run.turns) == ("planner_invalid", 4)


def test_a_model_cannot_propose_what_a_person_rejected(stage: Thinking) -> None:
    pay = calling(("t_pay_plain", {"account": stage.account, "amount": "5"}))
    with model_serving(pay, pay, saying("I give up.")) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
        stage.reject(run_id, reason="Not this supplier")
        stage.work(run_id)
        assert "Not this supplier" in server.said(1)
        assert "rejected_before" in server.said(2)
    assert stage.run(run_id).answer == "I give up."
    assert stage.world.paid == []


def test_a_key_travels_in_its_header_and_nowhere_else(stage: Thinking) -> None:
    key = "sk-own-0123456789abcdef"
    with model_serving(saying(f"My key is {key}.")) as server:
        set_credential(stage.cast.carol.actor, "models", server.host, SecretStr(key))
        run_id = stage.thinker(server, credential="models", instructions=f"Never say {key}.")
        stage.work(run_id)
        (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {key}"
    assert key.encode() not in request.body
    (call,) = stage.calls(run_id)
    assert key not in call.prompt + call.answer + call.detail
    assert all(key not in event.data for event in stage.events(run_id))


def _proposals(stage: Thinking, run_id: Any) -> list[Any]:
    with tenant_transaction(stage.tenant_id):
        return list(Proposal.objects.filter(step__run_id=run_id))


@pytest.mark.parametrize("provider", PROVIDERS_BY_NAME)
def test_any_provider_is_asked_by_its_name_at_an_address_of_ones_own(stage: Thinking, provider: str) -> None:
    with model_serving(calling(("t_read", {"account": stage.account})), saying("Done.")) as server:
        run_id = stage.thinker(server, provider=provider, name="some/model", temperature="0.5")
        stage.work(run_id)
        assert len(server.requests) == 2, stage.run(run_id).ended_because
    assert stage.run(run_id).answer == "Done."


def test_no_model_is_asked_for_somebody_who_may_no_longer_act(stage: Thinking) -> None:
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server)
        remove_member(stage.cast.carol.actor, user_id=stage.cast.alice.user.id)
        stage.work(run_id)
        assert server.requests == []
    run = stage.run(run_id)
    assert run.terminal_reason == "planner_failed"
    assert "no longer a member" in run.ended_because


def test_the_kept_prompt_is_what_was_sent(stage: Thinking) -> None:
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server, instructions="Be brief.")
        stage.work(run_id)
        (call,) = stage.calls(run_id)
        kept = json.loads(call.prompt)
        first = server.prompts[0]["messages"]
    assert first[0]["content"] == kept["system"]
    assert kept["system"].startswith("Be brief.")
    assert kept["task"] in json.dumps(first[1])
