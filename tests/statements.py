"""What this thread says to Postgres: every statement, however it travels, and how many transactions wrote."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from agentops.postgres.trip import Statement

_WRITING = ("INSERT INTO", 'UPDATE "', "DELETE FROM")


class Heard:
    """`trips`: of statements that went together. `commits`: of transactions that wrote."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.trips = 0
        self.commits = 0
        self._wrote = False

    def say(self, sql: str) -> None:
        self.statements.append(sql)
        self._wrote |= any(word in sql for word in _WRITING)

    def committed(self) -> None:
        self.commits += self._wrote
        self._wrote = False


@contextmanager
def heard(into: Heard | None = None) -> Iterator[Heard]:
    """Listens on the real connection; BEGIN and COMMIT are no statements. `into`: what goes on with an earlier one."""
    backend: Any = connection
    found = into or Heard()
    commit, travel = backend._commit, backend._travel

    def on_commit() -> None:
        commit()
        found.committed()

    def on_travel(statements: Sequence[Statement]) -> list[bytes | None]:
        for sql, _ in [*backend._queued, *statements]:
            if sql != "COMMIT":
                found.say(sql)
        found.trips += 1
        answers: list[bytes | None] = travel(statements)
        return answers

    def on_execute(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        found.say(sql)
        return execute(sql, params, many, context)

    with pytest.MonkeyPatch.context() as patched, connection.execute_wrapper(on_execute):
        patched.setattr(backend, "_commit", on_commit)
        patched.setattr(backend, "_travel", on_travel)
        yield found
