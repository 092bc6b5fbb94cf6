"""Finds the place of what a JSON value may not hold: the slow path, walked only when something may be wrong."""

from collections.abc import Iterator
from decimal import Decimal

from tools.domain.errors_values import InvalidJson, LoneSurrogate, NotExact, TooDeep, TooManyLeaves
from tools.domain.json_reader import MARKING_READER, Mark
from tools.domain.numbers import spell_decimal, spell_integer

MAX_DEPTH = 64
MAX_LEAVES = 50_000

type _Path = tuple[_Path, str | int] | None


def first_fault(text: str) -> InvalidJson:
    """The first fault that the marking reader leaves in the value."""
    for path, value in _walk(MARKING_READER.decode(text)):
        if isinstance(value, Mark):
            return value.fault(_pointer(path if value.key is None else (path, value.key)), value.detail)
    return InvalidJson()


def check_size(text: str, value: object) -> None:
    """Refuses lone surrogates and what is too deep or has too many leaves; free for small clean texts."""
    opened = text.count("[") + text.count("{")
    small = opened <= MAX_DEPTH and text.count(",") + opened < MAX_LEAVES
    if small and (text.isascii() or _is_encodable(text)) and "\\ud" not in text and "\\uD" not in text:
        return
    leaves = 0
    for path, item in _walk(value):
        leaves += not (isinstance(item, (dict, list)) and item)
        if leaves > MAX_LEAVES:
            raise TooManyLeaves
        _check_place(path, item)


def first_inexact(value: object) -> InvalidJson:
    """The first thing in a value in memory that cannot be written as exact JSON."""
    for path, item in _walk(value):
        try:
            _check_leaf(path, item)
        except InvalidJson as fault:
            return type(fault)(_pointer(path), fault.detail)
    return NotExact()


def _check_place(path: _Path, item: object) -> None:
    if isinstance(item, (dict, list)):
        if _depth(path) >= MAX_DEPTH:
            raise TooDeep(_pointer(path))
        if isinstance(item, dict) and not all(_is_encodable(key) for key in item):
            raise LoneSurrogate(_pointer(path), "A key holds half of a surrogate pair.")
    elif isinstance(item, str) and not _is_encodable(item):
        raise LoneSurrogate(_pointer(path))


def _check_leaf(path: _Path, item: object) -> None:
    match item:
        case Decimal():
            spell_decimal(item)
        case bool() | None:
            pass
        case int():
            spell_integer(item)
        case dict() if not all(isinstance(key, str) for key in item):
            raise NotExact("", "A key is not text.")
        case str() | dict() | list() | tuple():
            _check_text(path, item)
        case _:
            raise NotExact("", f"{type(item).__name__} has no exact JSON form.")


def _check_text(path: _Path, item: object) -> None:
    texts = item if isinstance(item, dict) else [item]
    if not all(_is_encodable(text) for text in texts if isinstance(text, str)):
        raise LoneSurrogate(_pointer(path))


def _walk(value: object) -> Iterator[tuple[_Path, object]]:
    """Every node in document order, without recursion."""
    waiting: list[tuple[_Path, object]] = [(None, value)]
    while waiting:
        path, item = waiting.pop()
        yield path, item
        if isinstance(item, dict):
            waiting.extend(((path, key), child) for key, child in reversed(item.items()))
        elif isinstance(item, (list, tuple)):
            waiting.extend(((path, place), item[place]) for place in range(len(item) - 1, -1, -1))


def _depth(path: _Path) -> int:
    depth = 0
    while path is not None:
        path, depth = path[0], depth + 1
    return depth


def _pointer(path: _Path) -> str:
    parts = []
    while path is not None:
        parts.append(str(path[1]).replace("~", "~0").replace("/", "~1"))
        path = path[0]
    written = "".join("/" + part for part in reversed(parts))
    return written.encode(errors="backslashreplace").decode()


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
