"""Several prepared statements in one round trip, by libpq's pipeline."""

from collections.abc import Iterator, Sequence
from itertools import count
from select import POLLIN, POLLOUT, poll
from typing import Any

from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName, error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult

type Statement = tuple[str, Sequence[str | None]]
"""SQL with `$1` to `$n`, and its values as text, which Postgres reads as what the SQL makes of them."""
type _Encoded = tuple[str, list[bytes | None]]

MOST_PLANS = 200
"""Of one connection; the one that was not used for longest leaves. Postgres keeps some 50 kB for each."""


def storable(text: str) -> str:
    """As the database takes it: it has no U+0000 in text, so that is written as its escape."""
    return text.replace("\0", "\\u0000")


def as_text(value: Any) -> str | None:
    """A value for a statement, which so is the same whatever its values are."""
    match value:
        case str():
            return storable(value)
        case None:
            return None
        case bytes():
            return rf"\x{value.hex()}"
        case list():
            return "{" + ",".join(map(_quoted, value)) + "}"
        case _:
            return str(value)


def _quoted(item: Any) -> str:
    """As an array's text has it."""
    text = (as_text(item) or "").replace("\\", r"\\").replace('"', r"\"")
    return f'"{text}"'


class Plans:
    """The statements that one connection has prepared, by their text: planning costs more than running most of them."""

    def __init__(self) -> None:
        self._names: dict[str, bytes] = {}
        self._numbers = count(1)

    def known(self, sql: str) -> bytes | None:
        """Its name; of all, it is now the one that was used last."""
        name = self._names.pop(sql, None)
        if name is not None:
            self._names[sql] = name
        return name

    def new_name(self) -> bytes:
        """A name that this connection never had: what it forgot may be there all the same."""
        return b"trip_%d" % next(self._numbers)

    def keep(self, prepared: dict[str, bytes]) -> None:
        """Remember these."""
        self._names |= prepared

    def forget(self) -> None:
        """All of them: somebody dropped them, or changed tables so that they no longer fit."""
        self._names.clear()

    def drop_oldest(self) -> Iterator[bytes]:
        """The names of those that are too many, which are forgotten."""
        while len(self._names) > MOST_PLANS:
            yield self._names.pop(next(iter(self._names)))


def travel(server: PGconn, plans: Plans, statements: Sequence[Statement]) -> list[bytes | None]:
    """Execute them in this order; the first fault skips the rest and is raised.

    Returns the first value of the first row of each as text; None where there is no row. Raises psycopg's errors.
    """
    if not statements:
        return []
    encoded = [_encoded(*statement) for statement in statements]
    server.enter_pipeline_mode()
    try:
        is_answer, prepared = _sent(server, plans, encoded)
        results = _received(server)
        server.exit_pipeline_mode()
    except BaseException:
        # Interrupted on the way, nobody knows which answers are still to come.
        server.finish()
        raise
    plans.keep({sql: name for sql, (name, place) in prepared.items() if results[place].status == ExecStatus.COMMAND_OK})
    fault = next((r for r in results if r.status in {ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE}), None)
    if fault is not None:
        error = error_from_result(fault)
        if isinstance(error, InvalidSqlStatementName | FeatureNotSupported):
            plans.forget()
        raise error
    return [_value(r) for r, wanted in zip(results, is_answer, strict=True) if wanted]


def _encoded(sql: str, values: Sequence[str | None]) -> _Encoded:
    """As bytes, before anything is sent: a value that is no text must not cost the connection."""
    return sql, [None if value is None else value.encode() for value in values]


def _sent(
    server: PGconn, plans: Plans, statements: Sequence[_Encoded]
) -> tuple[list[bool], dict[str, tuple[bytes, int]]]:
    """Which results are answers; and what was prepared on the way, by which name, with the place of its result."""
    is_answer: list[bool] = []
    prepared: dict[str, tuple[bytes, int]] = {}
    for name in plans.drop_oldest():
        server.send_close_prepared(name)
        is_answer.append(False)
    for sql, values in statements:
        known = plans.known(sql)
        if known is None and sql not in prepared:
            prepared[sql] = plans.new_name(), len(is_answer)
            server.send_prepare(prepared[sql][0], sql.encode())
            is_answer.append(False)
        server.send_query_prepared(known or prepared[sql][0], values)
        is_answer.append(True)
    server.pipeline_sync()
    return is_answer, prepared


def _received(server: PGconn) -> list[PGresult]:
    """One result for everything that was sent. No other thread waits meanwhile."""
    results: list[PGresult] = []
    while True:
        _wait(server)
        result = server.get_result()
        if result is None:
            continue  # it parts the results
        if result.status == ExecStatus.PIPELINE_SYNC:
            return results
        results.append(result)


def _wait(server: PGconn) -> None:
    """Until the next result is here: libpq itself would wait for it with Python's lock held."""
    while (unsent := bool(server.flush())) or server.is_busy():
        poller = poll()
        poller.register(server.socket, POLLIN | (POLLOUT if unsent else 0))
        poller.poll()
        server.consume_input()


def _value(result: PGresult) -> bytes | None:
    return result.get_value(0, 0) if result.ntuples else None
