"""A tool's page says what it takes, offers a draft to try, and keeps what was typed when it is refused."""

from collections.abc import Callable

from django.test import Client
from django.utils.html import escape

from tests.cast import Person
from tests.web.scene import Scene

type Browse = Callable[[Person], Client]


def test_the_page_offers_a_draft_of_the_arguments(scene: Scene, browse: Browse) -> None:
    page = browse(scene.cast.carol).get("/tools/scene_pay").content.decode()
    assert escape('"invoice_id": ""') in page.split("<textarea")[1].split("</textarea>")[0]
    rows = page.split("What it takes")[1].split("</table>")[0]
    assert [rows.count("required"), rows.count("optional")] == [3, 1]


def test_a_refused_try_names_the_fault_and_keeps_the_text(scene: Scene, browse: Browse) -> None:
    answer = browse(scene.cast.carol).post("/tools/scene_pay", {"args": '{"invoice_id": "<INV>"}'})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "amount" in page.split('role="alert"')[1].split("</div>")[0]
    assert escape('{"invoice_id": "<INV>"}') in page


def test_only_those_who_change_tools_can_try_them(scene: Scene, browse: Browse) -> None:
    page = browse(scene.cast.bob).get("/tools/scene_pay").content.decode()
    assert "A tool admin or an owner can try tools." in page
    assert "<textarea" not in page
