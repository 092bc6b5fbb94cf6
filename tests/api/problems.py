"""What every refusal over REST must be: a problem document (RFC 9457) with our code, and the places of its faults."""

from typing import Any


def assert_problem(answer: Any, status: int, code: str | None = None, pointer: str | None = None) -> dict[str, Any]:
    """The body of a refusal, once it is one. `pointer`: a place that it must name."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "detail", "code"} <= set(body)
    assert body["status"] == status
    assert code is None or body["code"] == code, body
    assert pointer is None or pointer in [error["pointer"] for error in body["errors"]]
    return body
