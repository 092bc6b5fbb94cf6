"""The Inbox says how many wait in each tab, and sets inserted values apart from words."""

import re
from collections.abc import Callable

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals.domain.decision import Verdict
from approvals.queries import request as request_of
from runs import queries
from runs.operations.deciding import decide
from tests.cast import Person
from tests.web.scene import Scene

type Browse = Callable[[Person], Client]

MOST_QUERIES = 15


def tab_counts(page: str) -> list[str]:
    tabs = page.split('class="tabs"')[1].split("</nav>", maxsplit=1)[0]
    return re.findall(r"<b>(\S+)\s*</b>", tabs)


def test_every_tab_counts_its_rows(scene: Scene, browse: Browse) -> None:
    for _ in range(3):
        scene.run()
    view = request_of(scene.cast.bob.actor, queries.run(scene.cast.bob.actor, scene.run()).open_approvals[0])
    decide(scene.cast.bob.actor, view.request.id, verdict=Verdict.REJECT, digest=view.request.digest, reason="no")
    for person, mine in ((scene.cast.bob, "3"), (scene.cast.alice, "0")):
        client = browse(person)
        assert tab_counts(client.get("/inbox").content.decode()) == [mine, "3", "0"]
        pending = client.get("/inbox?tab=pending").content.decode()
        assert pending.count("data-row") == 3
        decided = client.get("/inbox?tab=decided").content.decode()
        assert tab_counts(decided) == [mine, "3", "0", "1"]
        assert decided.count("data-row") == 1
    assert tab_counts(browse(scene.cast.mallory).get("/inbox").content.decode()) == ["0", "0", "0"]


def test_a_row_sets_its_values_apart_from_the_words(scene: Scene, browse: Browse) -> None:
    scene.run(account='DE02</span><b id="x"> for nothing')
    row = browse(scene.cast.bob).get("/inbox").content.decode().split("data-row")[1].split("</tr>")[0]
    values = re.findall(r'<span class="value"><bdi class="exact" dir="ltr">(.*?)</bdi></span>', row)
    assert values[:2] == ["12400.00", "DE02&lt;/span&gt;&lt;b id=&quot;x&quot;&gt; for nothing"]
    assert values[2].startswith("INV-")
    assert '<b id="x">' not in row


def test_the_first_page_takes_few_queries_however_much_waits(scene: Scene, browse: Browse) -> None:
    client = browse(scene.cast.bob)
    scene.run()
    taken = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as seen:
            client.get("/inbox")
        taken.append(len(seen))
        for _ in range(3):
            scene.run()
    assert taken[0] == taken[1] < MOST_QUERIES
