"""A client that speaks as one key, over the whole stack of the product."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from tests.cast import Cast
from tests.runs.scenario import Stage, new_stage

# A client of Django's loads the middleware once, which takes longer than a request.
_CLIENT = Client()
_FRANK = Client(raise_request_exception=False)


@dataclass
class Caller:
    """`POST` and `GET` under `/api/v1` with one key."""

    raw_key: str

    def get(self, path: str, **headers: str) -> Any:
        return _CLIENT.get(f"/api/v1{path}", headers={"Authorization": f"Bearer {self.raw_key}", **headers})

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.raw("post", path, "" if body is None else json.dumps(body), **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        return self.raw("patch", path, json.dumps(body), **headers)

    def raw(self, method: str, path: str, body: str, content_type: str = "application/json", **headers: str) -> Any:
        call = getattr(_FRANK, method)
        headers = {"Authorization": f"Bearer {self.raw_key}", **headers}
        return call(f"/api/v1{path}", body, content_type=content_type, headers=headers)


@pytest.fixture
def stage(cast: Cast) -> Stage:
    return new_stage(cast)


@pytest.fixture
def service(cast: Cast) -> Caller:
    return Caller(cast.service.raw_key)


@pytest.fixture
def bob(cast: Cast) -> Caller:
    return Caller(cast.bob.raw_key)


@pytest.fixture
def alice(cast: Cast) -> Caller:
    return Caller(cast.alice.raw_key)


@pytest.fixture
def mallory(cast: Cast) -> Caller:
    return Caller(cast.mallory.raw_key)
