"""A hash tree over leaves, so that one leaf can be proved without showing the others (RFC 6962, section 2.1)."""

from collections.abc import Sequence
from hashlib import sha256

type Path = list[tuple[str, str]]
"""From the leaf up: on which side the neighbour stands (`left`, `right`) and its hash."""


def root(leaves: Sequence[str]) -> str:
    """The hash of the tree over these texts; of none of them, sha256 of nothing."""
    level = [_leaf(text) for text in leaves]
    if not level:
        return sha256(b"").hexdigest()
    while len(level) > 1:
        level = _above(level)
    return level[0]


def path(leaves: Sequence[str], index: int) -> Path:
    """What leads from the leaf at `index` to the root."""
    level, steps = [_leaf(text) for text in leaves], []
    while len(level) > 1:
        neighbour = index ^ 1
        if neighbour < len(level):
            steps.append(("left" if neighbour < index else "right", level[neighbour]))
        level, index = _above(level), index // 2
    return steps


def climbed(leaf: str, steps: Path) -> str:
    """The root that this leaf and this path lead to."""
    digest = _leaf(leaf)
    for side, other in steps:
        digest = _node(other, digest) if side == "left" else _node(digest, other)
    return digest


def _above(level: Sequence[str]) -> list[str]:
    pairs = [_node(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
    return pairs + ([level[-1]] if len(level) % 2 else [])


def _leaf(text: str) -> str:
    return sha256(b"\x00" + text.encode()).hexdigest()


def _node(left: str, right: str) -> str:
    return sha256(b"\x01" + bytes.fromhex(left) + bytes.fromhex(right)).hexdigest()
