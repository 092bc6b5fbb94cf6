"""A condition is compared leaf by leaf, by type and exact text; what could not be read is no change."""

from decimal import Decimal
from typing import Any

from agentops.web.conditions import MOST_SPLIT, SAME_SHOWN, changes, conditions
from tools.domain.canonical import Json, canonical


def check(before: Any, now: Any) -> dict[str, Json]:
    return {"name": "unchanged", "before": canonical(before), "now": canonical(now), "ok": False}


def test_only_the_leaf_that_changed_is_marked_and_both_sides_are_exact() -> None:
    was = {"amount": "12400.00", "status": "open", "n": 1}
    (found,) = conditions([check(was, {**was, "amount": "13950.00", "n": "1"})])
    sides = {leaf.path: (leaf.before and leaf.before.text, leaf.now and leaf.now.text) for leaf in found.leaves}
    assert sides == {"amount": ('"12400.00"', '"13950.00"'), "n": ("1", '"1"'), "status": ('"open"', '"open"')}
    assert {leaf.path for leaf in found.leaves if leaf.differs} == {"amount", "n"}


def test_equal_numbers_are_the_same_however_they_are_spelt() -> None:
    (found,) = conditions([check(Decimal("1.0"), 1)])
    assert [leaf.differs for leaf in found.leaves] == [False]


def test_a_leaf_that_is_missing_differs_from_null_and_empty() -> None:
    (found,) = conditions([check({"a": None, "b": {}, "c": ""}, {"b": [], "c": None})])
    assert [(leaf.path, leaf.now is None, leaf.differs) for leaf in found.leaves] == [
        ("a", True, True),
        ("b", False, True),
        ("c", False, True),
    ]


def test_a_side_that_could_not_be_read_is_no_difference() -> None:
    (found,) = conditions([check({"a": 1}, {}) | {"now": None, "ok": None}])
    assert (found.knows_before, found.knows_now, found.ok) == (True, False, None)
    assert [leaf.differs for leaf in found.leaves] == [False]


def test_many_equal_leaves_fold_and_a_changed_one_never_does() -> None:
    was = {f"k{n:03}": n for n in range(50)}
    (found,) = conditions([check(was, {**was, "k049": "49"})])
    assert len(found.leaves) == SAME_SHOWN + 1
    assert found.leaves[-1].path == "k049"
    assert len(found.rest) == 50 - SAME_SHOWN - 1


def test_a_huge_value_is_one_folded_text() -> None:
    was = ["x" * 100] * (MOST_SPLIT // 100)
    (found,) = conditions([check(was, [*was, 1])])
    assert [(leaf.path, leaf.differs) for leaf in found.leaves] == [("", True)]


def test_between_two_requests_only_what_differs_is_listed() -> None:
    old: list[Json] = [["same", canonical(1)], ["invoice", canonical({"a": 1, "b": 2})], ["lost", canonical(1)]]
    new: list[Json] = [["same", canonical(1)], ["invoice", canonical({"a": 1, "b": 3})], ["lost", None]]
    found = changes(old, new)
    assert [(c.name, [leaf.path for leaf in c.leaves], c.knows_now) for c in found] == [
        ("invoice", ["b"], True),
        ("lost", [""], False),
    ]
