"""What becomes of an HTTP call, whatever the other side does."""

import socket
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.tools import server as behaviours
from tests.tools.calls import call_of, http_spec, post_spec
from tests.tools.server import Server, answering, echo, serving
from tools.domain.outcome import Failed, Succeeded, Unknown
from tools.executor import execute

type Allow = Callable[[Server], None]


def test_a_read_gives_the_exact_value(reachable: Allow) -> None:
    with serving(answering(200, b'{"id": 12345678901234567890123, "rate": 0.1000000000000000055}')) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url())))
    assert isinstance(outcome, Succeeded)
    assert outcome.result == {"id": 12345678901234567890123, "rate": Decimal("0.1000000000000000055")}


def test_the_request_carries_the_arguments_the_key_and_the_bearer(reachable: Allow) -> None:
    with serving(echo) as server:
        reachable(server)
        spec = post_spec(
            server.url("/pay/{args.x}"),
            idempotency="header:Idempotency-Key",
            http={"query": {"to": "{args.x}", "left_out": "{args.y}"}, "headers": {"X-Ref": "ref {args.x}"}},
            input_schema={"type": "object", "properties": {"x": {}, "y": {}}},
        )
        outcome = execute(call_of(spec, {"x": "a/b ?"}, bearer="s3cret-bearer"))
        (request,) = server.requests
    assert isinstance(outcome, Succeeded)
    assert request.target == "/pay/a%2Fb%20%3F?to=a%2Fb%20%3F"
    assert request.headers["idempotency-key"] == "key-1"
    assert request.headers["authorization"] == "Bearer s3cret-bearer"
    assert request.headers["x-ref"] == "ref a/b ?"
    assert request.body == b'{"x":"a/b ?"}'
    assert "cookie" not in request.headers


def test_the_trace_goes_on_behind_the_request(reachable: Allow) -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    with serving(echo) as server:
        reachable(server)
        execute(replace(call_of(http_spec(server.url())), traceparent=parent))
        execute(call_of(http_spec(server.url())))
        assert [request.headers.get("traceparent") for request in server.requests] == [parent, None]


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "ü", " padded"])
def test_what_a_header_cannot_hold_is_refused(reachable: Allow, value: str) -> None:
    with serving(echo) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url(), http={"headers": {"X-Ref": "{args.x}"}}), {"x": value}))
        assert server.requests == []
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "invalid_arguments"


def test_a_bearer_that_comes_back_is_not_kept(reachable: Allow) -> None:
    with serving(echo) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url()), bearer="s3cret-bearer"))
    assert isinstance(outcome, Succeeded)
    assert "s3cret-bearer" not in outcome.result_text
    assert "s3cret-bearer" not in str(outcome.result)
    assert "⟦credential⟧" in outcome.result_text


def test_a_bearer_in_an_error_is_not_kept(reachable: Allow) -> None:
    with serving(answering(400, {"detail": "bad token s3cret-bearer"})) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url()), bearer="s3cret-bearer"))
    assert isinstance(outcome, Failed)
    assert "s3cret-bearer" not in outcome.error.message
    assert "⟦credential⟧" in outcome.error.message


def test_connections_are_kept_between_calls(reachable: Allow) -> None:
    with serving(answering(200, {})) as server:
        reachable(server)
        for _ in range(5):
            execute(call_of(http_spec(server.url())))
        assert len(server.requests) == 5
        assert server.connections == 1


READS: list[tuple[str, Any, str, bool]] = [
    ("not found", answering(404, {"detail": "no such invoice"}), "not_found", False),
    ("rejected", answering(422, {}), "rejected", False),
    ("conflict", answering(409, {}), "conflict", False),
    ("busy", answering(429, {}), "rate_limited", True),
    ("slow request", answering(408, {}), "timeout", True),
    ("broken", answering(500, b"<html>"), "upstream_error", True),
    ("moved", answering(302, b"", Location="http://127.0.0.1:1/"), "redirected", False),
    ("not JSON", answering(200, b"<html></html>"), "invalid_result", False),
    ("not a number", answering(200, b'{"a": NaN}'), "invalid_result", False),
    ("twice the same key", answering(200, b'{"a": 1, "a": 2}'), "invalid_result", False),
    ("compressed", answering(200, b"\x1f\x8b", Content_Encoding="gzip"), "invalid_result", False),
    ("cut", behaviours.cutting, "unreachable", True),
    ("cut in the answer", behaviours.cutting_the_answer, "invalid_result", True),
    ("not HTTP", behaviours.not_http, "unreachable", True),
    ("endless", behaviours.endless, "result_too_large", False),
]


@pytest.mark.parametrize(("behave", "code", "retryable"), [row[1:] for row in READS], ids=[row[0] for row in READS])
def test_a_read_that_goes_wrong_failed(reachable: Allow, behave: Any, code: str, retryable: bool) -> None:
    with serving(behave) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url())))
    assert isinstance(outcome, Failed)
    assert (outcome.error.code, outcome.error.retryable) == (code, retryable)


def test_what_the_server_says_reaches_the_planner(reachable: Allow) -> None:
    with serving(answering(404, {"detail": "no such invoice."})) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url())))
    assert isinstance(outcome, Failed)
    assert outcome.error.message == "The server answered 404: no such invoice."


MUTATIONS: list[tuple[str, Any, type, str]] = [
    ("refused", answering(422, {}), Failed, "rejected"),
    ("busy", answering(429, {}), Failed, "rate_limited"),
    ("not implemented", answering(501, {}), Failed, "upstream_error"),
    ("redirected to the same", answering(307, b"", Location="/"), Failed, "redirected"),
    ("broken", answering(500, {}), Unknown, "http_500"),
    ("bad gateway", answering(502, b""), Unknown, "http_502"),
    ("see other", answering(303, b"", Location="/"), Unknown, "redirected"),
    ("cut after it was read", behaviours.cutting, Unknown, "unreachable"),
    ("not HTTP", behaviours.not_http, Unknown, "unreachable"),
]


@pytest.mark.parametrize(("behave", "kind", "code"), [row[1:] for row in MUTATIONS], ids=[row[0] for row in MUTATIONS])
def test_a_mutation_only_failed_when_it_certainly_was_not_done(
    reachable: Allow, behave: Any, kind: type, code: str
) -> None:
    with serving(behave) as server:
        reachable(server)
        outcome = execute(call_of(post_spec(server.url())))
    assert isinstance(outcome, kind)
    said = outcome.error.code if isinstance(outcome, Failed) else getattr(outcome, "reason", "").partition(":")[0]
    assert said == code


UNUSABLE: list[tuple[str, Any, str]] = [
    ("not JSON", answering(200, b"<html></html>"), "invalid_result"),
    ("cut in the answer", behaviours.cutting_the_answer, "invalid_result"),
    ("endless", behaviours.endless, "result_too_large"),
    ("wrong shape", answering(200, {"paid": "yes"}), "invalid_result"),
]


@pytest.mark.parametrize(("behave", "code"), [row[1:] for row in UNUSABLE], ids=[row[0] for row in UNUSABLE])
def test_a_mutation_with_an_unusable_answer_is_done_and_says_so(reachable: Allow, behave: Any, code: str) -> None:
    shape = {"type": "object", "properties": {"paid": {"type": "boolean"}}}
    with serving(behave) as server:
        reachable(server)
        outcome = execute(call_of(post_spec(server.url(), output_schema=shape)))
    assert isinstance(outcome, Succeeded)
    assert outcome.fault is not None
    assert outcome.fault.code == code
    assert outcome.result["done"] is True


def test_a_read_of_the_wrong_shape_failed(reachable: Allow) -> None:
    shape = {"type": "object", "properties": {"status": {"type": "string"}}}
    with serving(answering(200, {"status": 1})) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url(), output_schema=shape)))
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "invalid_result"
    assert "/status" in outcome.error.message


def test_a_refused_connection_is_a_failure_even_of_a_mutation(reachable: Allow) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    gone = Server(port)
    reachable(gone)
    outcome = execute(call_of(post_spec(gone.url())))
    assert isinstance(outcome, Failed)
    assert (outcome.error.code, outcome.error.retryable) == ("unreachable", True)


def test_a_private_host_that_no_operator_listed_is_refused() -> None:
    with serving(echo) as server:
        outcome = execute(call_of(http_spec(server.url())))
        assert server.connections == 0
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "egress_denied"


def test_arguments_are_validated_again(reachable: Allow) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    with serving(echo) as server:
        reachable(server)
        outcome = execute(call_of(post_spec(server.url(), input_schema=schema), {"x": "1"}))
        assert server.requests == []
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "invalid_arguments"
    assert "/x" in outcome.error.message


def test_five_hundred_that_means_nothing_was_done(reachable: Allow) -> None:
    with serving(answering(503, {})) as server:
        reachable(server)
        outcome = execute(call_of(post_spec(server.url(), http={"not_applied": [503]})))
    assert isinstance(outcome, Failed)
    assert outcome.error.retryable


def test_a_selection_out_of_the_answer(reachable: Allow) -> None:
    with serving(answering(200, b'{"data": {"invoice": {"total": 12400.10}}}')) as server:
        reachable(server)
        outcome = execute(call_of(http_spec(server.url(), http={"select": "data.invoice"})))
    assert isinstance(outcome, Succeeded)
    assert outcome.result == {"total": Decimal("12400.10")}


def test_an_argument_cannot_leave_its_path_segment(reachable: Allow) -> None:
    with serving(echo) as server:
        reachable(server)
        spec = http_spec(server.url("/invoices/{args.x}"))
        execute(call_of(spec, {"x": "../payments"}))
        outcome = execute(call_of(spec, {"x": ".."}))
        assert [request.target for request in server.requests] == ["/invoices/..%2Fpayments"]
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "invalid_arguments"


def test_the_key_as_an_argument(reachable: Allow) -> None:
    with serving(echo) as server:
        reachable(server)
        execute(call_of(post_spec(server.url(), idempotency="arg:request_id"), {"x": 1}))
        assert server.requests[0].body == b'{"request_id":"key-1","x":1}'
