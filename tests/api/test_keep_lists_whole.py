"""Lists are complete at every size, their counts are the rows, and rows that leave meanwhile disturb nobody."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from approvals.domain.decision import Then, Verdict
from approvals.queries import request as request_of
from runs.operations.deciding import decide
from tests.api.conftest import Caller
from tests.cast import Cast, new_cast
from tests.runs.crowd import waiting_crowd
from tests.runs.scenario import Stage, new_stage

SIZES = [0, 1, 25, 26, 5000]
COUNTED = 1000


def _pages(caller: Caller, path: str, limit: int) -> Iterator[dict[str, Any]]:
    address: str | None = f"{path}{'&' if '?' in path else '?'}limit={limit}"
    while address is not None:
        page = caller.get(address).json()
        yield page
        address = page["next"] and page["next"].split("/api/v1", 1)[1]


class Crowd(NamedTuple):
    """Runs that wait, of a team of their own; nothing here decides any."""

    cast: Cast
    size: int
    runs: list[UUID]
    requests: list[UUID]


@pytest.fixture(scope="module", params=SIZES)
def crowd(request: pytest.FixtureRequest, database: None) -> Crowd:
    """One for both doors: 5000 take their time."""
    cast = new_cast()
    return Crowd(cast, request.param, *waiting_crowd(new_stage(cast), request.param))


def test_lists_are_whole_ordered_and_counted(crowd: Crowd) -> None:
    bob, size, runs, requests = Caller(crowd.cast.bob.raw_key), crowd.size, crowd.runs, crowd.requests
    for path, ids, moment, newest_first in (
        ("/approvals?status=pending", requests, "opened_at", False),
        ("/runs?status=awaiting_approval", runs, "created_at", True),
    ):
        pages = list(_pages(bob, path, 25 if size <= COUNTED else 200))
        rows = [row for page in pages for row in page["results"]]
        keys = [(row[moment], row["id"]) for row in rows]
        assert keys == sorted(keys, reverse=newest_first)
        assert sorted(row["id"] for row in rows) == sorted(map(str, ids))
        for page in pages:
            counted = (page["count"], page.get("count_at_least"))
            assert counted == ((size, None) if size <= COUNTED else (None, COUNTED))


def test_pages_for_people_are_whole_and_say_how_many(crowd: Crowd) -> None:
    size, runs, requests = crowd.size, crowd.runs, crowd.requests
    client = crowd.cast.bob.signed_in()
    for address, ids, row in (("/inbox?tab=pending", requests, "request"), ("/runs", runs, "run")):
        seen: list[str] = []
        page = client.get(address).content.decode()
        assert size == 0 or _total(page, row) == (str(size) if size <= COUNTED else "1000+")
        for _ in range(4):
            seen += re.findall(rf'<tr id="{row}-([0-9a-f-]{{36}})"', page)
            more = re.search(r'href="(\?[^"]*)">Next page', page)
            if more is None:
                break
            page = client.get(address.split("?")[0] + more[1].replace("&amp;", "&")).content.decode()
        assert len(seen) == len(set(seen)) == min(size, 100)
        assert set(seen) <= set(map(str, ids))


@pytest.mark.parametrize("kind", ["rest", "page"])
def test_rows_that_leave_while_somebody_reads_are_missed_by_nobody(stage: Stage, bob: Caller, kind: str) -> None:
    _, requests = waiting_crowd(stage, 60)
    order = sorted(requests, key=lambda r: (request_of(stage.cast.bob.actor, r).request.opened_at, r))
    read: Callable[[str | None], tuple[list[UUID], str | None]] = (
        (lambda at: _rest_page(bob, at)) if kind == "rest" else (lambda at: _inbox_page(stage, at))
    )
    seen, gone, address = list[UUID](), set[UUID](), None
    while True:
        rows, address = read(address)
        seen += rows
        if address is None:
            break
        behind, ahead = rows[0], order[len(order) - 1 - len(gone)]
        for request_id in {behind, ahead} - gone:
            _reject(stage, request_id)
            gone.add(request_id)
    assert len(seen) == len(set(seen))
    assert set(order) - gone <= set(seen)
    assert seen == [r for r in order if r in set(seen)]
    left = bob.get("/approvals?status=pending&limit=200").json()
    assert (left["count"], len(left["results"])) == (60 - len(gone), 60 - len(gone))
    decided = [page["results"] for page in _pages(bob, "/approvals?status=rejected", 1)]
    assert {UUID(rows[0]["id"]) for rows in decided} == gone


def _rest_page(bob: Caller, address: str | None) -> tuple[list[UUID], str | None]:
    page = bob.get(address or "/approvals?status=pending&limit=25").json()
    return [UUID(r["id"]) for r in page["results"]], page["next"] and page["next"].split("/api/v1", 1)[1]


def _inbox_page(stage: Stage, address: str | None) -> tuple[list[UUID], str | None]:
    client = stage.cast.bob.signed_in()
    page = client.get(address or "/inbox?tab=pending").content.decode()
    more = re.search(r'href="(\?[^"]*)">Next page', page)
    rows = [UUID(r) for r in re.findall(r'<tr id="request-([0-9a-f-]{36})"', page)]
    return rows, more and "/inbox" + more[1].replace("&amp;", "&")


def _reject(stage: Stage, request_id: UUID) -> None:
    bob = stage.cast.bob.actor
    digest = request_of(bob, request_id).request.digest
    decide(bob, request_id, verdict=Verdict.REJECT, digest=digest, reason="no", then=Then.STOP)


def _total(page: str, row: str) -> str:
    place = r'aria-current="page">[^<]*<b>\s*([0-9+]+)' if row == "request" else r'muted small">\s*([0-9+]+)\s+runs?\b'
    found = re.search(place, page)
    assert found is not None
    return found[1]
