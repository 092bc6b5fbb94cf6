"""The OpenAPI document tells the truth: what schemathesis makes of it never breaks the door or its promises."""

import json
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, openapi
from schemathesis.checks import (
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok

from agentops.api.docs import document
from tests.cast import new_cast

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
_SCHEMA = openapi.from_dict(json.loads(document()))
_SCHEMA.app = WSGIHandler()
_OPERATIONS = [found.ok() for found in _SCHEMA.get_all_operations() if isinstance(found, Ok)]
_BOUNDED = settings(
    max_examples=6, deadline=None, database=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def raw_key(database: None) -> str:
    """A key that may do everything but decide."""
    return new_cast().service.raw_key


def _cases() -> list[Any]:
    """Every operation in both modes; a public one without parameters cannot be asked in a wrong way."""
    pairs = [(o, m) for o in _OPERATIONS for m in GenerationMode]
    asked = [(o, m) for o, m in pairs if m is GenerationMode.POSITIVE or o.definition.raw.get("security") != [{}]]
    return [pytest.param(o, m, id=f"{o.label}-{m.value}") for o, m in asked]


@pytest.mark.parametrize(("operation", "mode"), _cases())
def test_every_operation_keeps_its_promises(operation: Any, mode: GenerationMode, raw_key: str) -> None:
    answers = []

    @_BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def keeps_them(case: schemathesis.Case[Any]) -> None:
        answer = case.call(headers={"Authorization": f"Bearer {raw_key}"})
        case.validate_response(answer, checks=CHECKS)
        answers.append(answer.status_code)

    keeps_them()
    assert answers
    assert mode is GenerationMode.NEGATIVE or 401 not in answers
