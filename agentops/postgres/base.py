"""Django's PostgreSQL whose BEGIN travels with a transaction's first statements and whose COMMIT with its last."""

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from django.db.backends.postgresql import base
from psycopg import Connection

from agentops.postgres.trip import Plans, Statement, travel

BEGIN: Statement = ("BEGIN", ())
COMMIT: Statement = ("COMMIT", ())
_plans: WeakKeyDictionary[Connection[Any], Plans] = WeakKeyDictionary()
"""Of connections, which the pool lends to one thread after another."""


class DatabaseWrapper(base.DatabaseWrapper):
    """`together` and `queue` are for code that knows its statements; everything else works as ever.

    psycopg stays in autocommit, since it would send each BEGIN alone; Django's own idea of it is unchanged.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._begins = False
        self._queued: list[Statement] = []

    def together(self, statements: Sequence[Statement]) -> list[bytes | None]:
        """Execute them in one round trip. Returns the first value of each as text; None where there is no row."""
        self.ensure_connection()
        return self._travel(statements)

    def queue(self, statement: Statement) -> None:
        """Execute it in the round trip of whatever comes next in the transaction: COMMIT at the latest."""
        self._queued.append(statement)

    def create_cursor(self, name: str | None = None) -> Any:
        """Whoever asks for one is about to execute something of its own."""
        if self._begins or self._queued:
            self._travel(())
        return super().create_cursor(name)

    def connect(self) -> None:
        """What an earlier connection had in hand is gone with it."""
        self._begins, self._queued = False, []
        super().connect()

    def _start_transaction_under_autocommit(self) -> None:
        self._begins = True

    def _set_autocommit(self, autocommit: bool) -> None:
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]  # it is there, untyped

    def _commit(self) -> None:
        if self._queued:
            self._travel([COMMIT])
        elif self._begins:
            self._begins = False
        else:
            super()._commit()  # type: ignore[misc]  # it is there, untyped

    def _rollback(self) -> None:
        self._queued = []
        if self._begins:
            self._begins = False
        else:
            super()._rollback()  # type: ignore[misc]  # it is there, untyped

    def _travel(self, statements: Sequence[Statement]) -> list[bytes | None]:
        ahead = [*([BEGIN] if self._begins else []), *self._queued]
        self._begins, self._queued = False, []
        plans = _plans.setdefault(self.connection, Plans())
        with self.wrap_database_errors:
            return travel(self.connection.pgconn, plans, [*ahead, *statements])[len(ahead) :]
