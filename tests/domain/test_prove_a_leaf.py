"""A leaf's path leads to the root of its tree, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentops import merkle


@given(st.lists(st.text(), min_size=1, max_size=40), st.data())
def test_every_leaf_leads_to_the_root(leaves: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    assert merkle.climbed(leaves[index], merkle.path(leaves, index)) == merkle.root(leaves)


@given(st.lists(st.text(), min_size=2, max_size=20, unique=True), st.data())
def test_another_text_does_not(leaves: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    assert merkle.climbed(leaves[index] + "x", merkle.path(leaves, index)) != merkle.root(leaves)


@pytest.mark.parametrize("count", range(1, 10))
def test_a_root_tells_how_its_leaves_stand(count: int) -> None:
    leaves = [str(i) for i in range(count)]
    roots = {merkle.root(leaves), merkle.root(leaves[::-1]), merkle.root([*leaves, "x"]), merkle.root(leaves[1:])}
    assert len(roots) == (3 if count == 1 else 4)


def test_a_node_cannot_pass_for_a_leaf() -> None:
    assert merkle.root(["a", "b"]) != merkle.root([merkle.root(["a"]) + merkle.root(["b"])])
