"""A tool's page says what it takes, offers a draft to try, and keeps what was typed when it is refused."""

import re
from collections.abc import Callable
from html import unescape

from django.test import Client
from django.utils.html import escape, strip_tags

from tests.cast import Person
from tests.sandbox.inside import command_spec
from tests.web.scene import Scene
from tools.operations import register_tool

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


def test_the_page_of_a_command_shows_its_line_and_what_a_try_would_start(scene: Scene, browse: Browse) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    spec = command_spec("/usr/bin/rm", "--", "{args.x}", risk="destructive", input_schema=schema, min_sandbox_level=3)
    register_tool(scene.cast.carol.actor, spec)
    carol = browse(scene.cast.carol)
    page = carol.get("/tools/probe").content.decode()
    assert "/usr/bin/rm" in page
    assert "{args.x}" in page
    assert "(needs level 3)" in page
    tried = carol.post("/tools/probe", {"args": '{"x": "a\\n\\"-rf"}'}).content.decode().split("Would be started")[1]
    assert escape('"a\n"-rf"') in tried
    assert re.findall(r"<dt>(.*?)</dt>", tried.split("</dl>")[0]) == ["program", *map(place, range(1, 3))]


def place(number: int) -> str:
    return f'<span class="path">[{number}]</span>'


def test_a_refused_call_says_why_and_nothing_else(scene: Scene, browse: Browse) -> None:
    register_tool(scene.cast.carol.actor, command_spec("/usr/bin/env", "{args.x}", risk="write"))
    page = browse(scene.cast.carol).post("/tools/probe", {"args": '{"x": "-rf"}'}).content.decode()
    notice = strip_tags(page.split('<p class="notice notice-bad">')[1].split("</p>")[0])
    assert unescape(notice) == (
        "invalid_arguments args.x may not start with “-” here, where it would be read as an option."
    )


def test_only_those_who_change_tools_can_try_them(scene: Scene, browse: Browse) -> None:
    page = browse(scene.cast.bob).get("/tools/scene_pay").content.decode()
    assert "A tool admin or an owner can try tools." in page
    assert "<textarea" not in page
