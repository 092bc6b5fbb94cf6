"""Statements that travel together: what arrives, in which order, and what is left when one of them fails."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import psycopg
import pytest
from django.db import (
    DataError,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)

from agentops.postgres.base import DatabaseWrapper
from agentops.postgres.trip import MOST_PLANS, as_text

ECHO = "SELECT jsonb_build_array($1::text, $2::bytea, $3::text[], $4::text)::text"
NAMED = "INSERT INTO noted (word) VALUES ($1)"


@pytest.fixture
def backend() -> Iterator[DatabaseWrapper]:
    """This thread's connection, with a table of its own for as long as it lives."""
    found = cast("DatabaseWrapper", connection)
    found.together([("CREATE TEMPORARY TABLE noted (word text PRIMARY KEY)", ())])
    yield found
    found.together([("DROP TABLE noted", ())])


def words(backend: DatabaseWrapper) -> list[str]:
    (found,) = backend.together([("SELECT coalesce(string_agg(word, ' ' ORDER BY word), '') FROM noted", ())])
    assert found is not None
    return found.decode().split()


def test_every_value_arrives_as_it_was(backend: DatabaseWrapper) -> None:
    text, items = 'it\'s \\ "quoted" $1 ä 🐘\n', ['a,"b"', "c\\d", "", "NULL", "{}"]
    values = [as_text(value) for value in (text, b"\x00'\xff", items, None)]
    (found,) = backend.together([(ECHO, values)])
    with connection.cursor() as cursor:
        cursor.execute("SELECT jsonb_build_array(%s::text, %s::bytea, %s::text[], %s::text)::text",
                       [text, b"\x00'\xff", items, None])  # fmt: skip
        assert found is not None
        assert found.decode() == cursor.fetchone()[0]


def test_no_row_and_no_value_are_none(backend: DatabaseWrapper) -> None:
    assert backend.together([("SELECT 1 WHERE false", ()), ("SELECT NULL", ()), ("SELECT 0", ())]) == [None, None, b"0"]


def test_a_fault_undoes_what_came_with_it_and_the_connection_goes_on(backend: DatabaseWrapper) -> None:
    with pytest.raises(IntegrityError), transaction.atomic(durable=True):
        backend.together([(NAMED, ["one"]), (NAMED, ["one"]), (NAMED, ["two"])])
    assert words(backend) == []
    with transaction.atomic(durable=True):
        backend.together([(NAMED, ["one"])])
    assert words(backend) == ["one"]


def test_what_is_queued_comes_before_what_the_orm_does_next(backend: DatabaseWrapper) -> None:
    with transaction.atomic(durable=True):
        backend.queue((NAMED, ["first"]))
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO noted SELECT word || '-seen' FROM noted")
        backend.queue((NAMED, ["last"]))
    assert words(backend) == ["first", "first-seen", "last"]


def insert_and_fail(backend: DatabaseWrapper) -> None:
    with transaction.atomic(durable=True):
        backend.queue((NAMED, ["one"]))
        backend.queue(("SELECT $1::int", ["no number"]))


def insert_and_raise(backend: DatabaseWrapper) -> None:
    with transaction.atomic(durable=True):
        backend.queue((NAMED, ["one"]))
        raise ZeroDivisionError


def test_what_is_queued_and_fails_at_the_end_undoes_the_transaction(backend: DatabaseWrapper) -> None:
    with pytest.raises(DataError):
        insert_and_fail(backend)
    assert words(backend) == []


def test_what_was_queued_by_a_body_that_raised_is_never_sent(backend: DatabaseWrapper) -> None:
    with pytest.raises(ZeroDivisionError):
        insert_and_raise(backend)
    with transaction.atomic(durable=True):
        backend.together([(NAMED, ["two"])])
    assert words(backend) == ["two"]


def test_a_savepoint_works_in_a_transaction_that_has_not_begun_yet(backend: DatabaseWrapper) -> None:
    with transaction.atomic(durable=True):
        with pytest.raises(IntegrityError), transaction.atomic():
            backend.together([(NAMED, ["one"]), (NAMED, ["one"])])
        backend.queue((NAMED, ["two"]))
    assert words(backend) == ["two"]


def test_a_transaction_that_does_nothing_is_not_begun(
    backend: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(backend, "_travel", sent.append)
        with transaction.atomic(durable=True):
            pass
        with pytest.raises(ZeroDivisionError), transaction.atomic(durable=True):
            raise ZeroDivisionError
    assert sent == []


def test_other_threads_go_on_while_one_waits_for_postgres(backend: DatabaseWrapper) -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.01):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    backend.together([("SELECT pg_sleep(0.5)", ())])
    done.set()
    thread.join()
    assert counted >= 10


def test_a_connection_that_is_cut_is_an_operational_error_and_the_next_one_works(
    backend: DatabaseWrapper, superuser: psycopg.Connection[Any]
) -> None:
    (pid,) = backend.together([("SELECT pg_backend_pid()", ())])
    assert pid is not None
    cut = threading.Timer(0.3, lambda: superuser.execute("SELECT pg_terminate_backend(%s)", [int(pid)]))
    cut.start()
    with pytest.raises(OperationalError), transaction.atomic(durable=True):
        backend.together([("SELECT pg_sleep(20)", ())])
    cut.join()
    began = time.monotonic()
    with transaction.atomic(durable=True):
        backend.together([("CREATE TEMPORARY TABLE noted (word text)", ())])
    assert time.monotonic() - began < 10


def test_a_connection_keeps_only_the_plans_of_what_it_used_last(backend: DatabaseWrapper) -> None:
    for number in range(MOST_PLANS + 20):
        backend.together([(f"SELECT {number}", ()), ("SELECT 'always'", ())])
    (kept,) = backend.together([("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'trip_%'", ())])
    (always,) = backend.together(
        [("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT ''always'''", ())]
    )
    assert kept is not None
    assert MOST_PLANS - 5 < int(kept) <= MOST_PLANS + 2
    assert always == b"1"


def test_a_statement_that_fails_each_time_has_one_plan(backend: DatabaseWrapper) -> None:
    for _ in range(3):
        with pytest.raises(IntegrityError):
            backend.together([(NAMED, ["one"]), (NAMED, ["one"]), ("SELECT 'never'", ())])
    told = "SELECT count(*) FROM pg_prepared_statements WHERE statement = $1"
    assert backend.together([(told, [NAMED]), (told, ["SELECT 'never'"])]) == [b"1", b"0"]


def test_a_value_that_is_no_text_does_not_cost_the_connection(backend: DatabaseWrapper) -> None:
    with pytest.raises(UnicodeEncodeError), transaction.atomic(durable=True):
        backend.together([(NAMED, ["one"]), (NAMED, ["half a pair: \ud800"])])
    assert words(backend) == []


def test_plans_that_somebody_dropped_are_made_again(backend: DatabaseWrapper) -> None:
    (first,) = backend.together([(ECHO, ["a", None, None, None])])
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    with pytest.raises(ProgrammingError):
        backend.together([(ECHO, ["a", None, None, None])])
    assert backend.together([(ECHO, ["a", None, None, None])]) == [first]


def test_a_plan_of_a_table_that_changed_is_made_again(backend: DatabaseWrapper) -> None:
    everything = ("SELECT * FROM noted", ())
    backend.together([(NAMED, ["one"]), everything])
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE noted ADD COLUMN more text")
    with pytest.raises(NotSupportedError):
        backend.together([everything])
    assert backend.together([everything]) == [b"one"]


def test_an_undone_transaction_leaves_all_plans(backend: DatabaseWrapper) -> None:
    (first,) = backend.together([(ECHO, ["a", None, None, None])])
    with pytest.raises(ZeroDivisionError):
        insert_and_raise(backend)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(IntegrityError), transaction.atomic(durable=True):
        backend.together([(NAMED, ["one"]), (NAMED, ["one"])])
    assert backend.together([(ECHO, ["a", None, None, None])]) == [first]


def test_a_connection_goes_from_thread_to_thread_with_its_plans() -> None:
    def one() -> int:
        (pid,) = cast("DatabaseWrapper", connection).together([("SELECT pg_backend_pid()", ())])
        connection.close()
        return int(pid or 0)

    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        pids = [pool.submit(one).result() for _ in range(4) for pool in (first, second)]
    assert len(set(pids)) < len(pids)
