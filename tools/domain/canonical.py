"""Reads JSON without loss and writes it in the one canonical form that fingerprints and digests are made of."""

import hashlib
import json
from collections.abc import Iterable
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, cast

from tools.domain.errors_values import (
    InvalidJson,
    LoneSurrogate,
    NotAnObject,
    NotExact,
    TooDeep,
)
from tools.domain.json_faults import check_size, first_fault, first_inexact
from tools.domain.json_reader import READER, Refused
from tools.domain.numbers import plain_digits, spell_decimal, spell_integer

type Json = bool | int | Decimal | str | list[Json] | dict[str, Json] | None

_PLAIN_INTEGER = 10**21


def parse(raw: str | bytes) -> Json:
    """The exact value of a JSON text; numbers become int or Decimal.

    Raises InvalidJson, with the JSON pointer of the place, for anything semantics.md refuses.
    """
    text = _decode(raw)
    try:
        value = READER.decode(text)
    except Refused:
        raise first_fault(text) from None
    except json.JSONDecodeError as error:
        raise InvalidJson("", f"{error.msg} at line {error.lineno}, column {error.colno}.") from None
    except RecursionError:
        raise TooDeep from None
    check_size(text, value)
    return cast(Json, value)


def parse_object(raw: str | bytes) -> dict[str, Json]:
    """Like parse, for arguments: anything but an object is refused."""
    value = parse(raw)
    if not isinstance(value, dict):
        raise NotAnObject
    return value


def canonical(value: object) -> str:
    """RFC 8785 key order and strings, numbers exact: equal values give equal text.

    Raises InvalidJson (NotExact for floats and anything that is not JSON) with the pointer of the place.
    """
    return _checked(value, ordered=True)


def exact(value: object) -> str:
    """The same spelling with the keys in the order given, for answers and for people."""
    return _checked(value, ordered=False)


def plain(value: Json) -> Any:
    """The value for writers that know no Decimal: a fraction becomes the text of its digits."""
    if isinstance(value, Decimal):
        return plain_digits(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def pointer(parts: Iterable[str | int]) -> str:
    """The RFC 6901 JSON pointer of a path."""
    return "".join("/" + escape(str(part)) for part in parts)


def escape(part: str) -> str:
    """One reference token of a JSON pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def digest_text(prefix: str, value: object) -> str:
    """Hex SHA-256 of the prefix followed by the canonical text."""
    return sha256_text(prefix + canonical(value))


def sha256_text(text: str) -> str:
    """Hex SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def _decode(raw: str | bytes) -> str:
    if isinstance(raw, bytes):
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise InvalidJson("", f"Not valid UTF-8 at byte {error.start}.") from None
    return raw


def _checked(value: object, *, ordered: bool) -> str:
    try:
        text = _spell(value, ordered)
    except RecursionError:
        raise TooDeep from None
    except InvalidJson:
        raise first_inexact(value) from None
    if not text.isascii() and _has_surrogate(text):
        raise first_inexact(value)
    return text


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _spell(value: Any, ordered: bool) -> str:
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is int:
        return int.__repr__(value) if -_PLAIN_INTEGER < value < _PLAIN_INTEGER else spell_integer(value)
    if kind is dict:
        return _spell_object(value, ordered)
    if kind is list:
        return "[" + ",".join([_spell(item, ordered) for item in value]) + "]"
    return _spell_rare(value, ordered)


def _spell_object(value: dict[str, object], ordered: bool) -> str:
    keys = _in_order(value) if ordered else value
    try:
        return "{" + ",".join([f"{encode_basestring(key)}:{_spell(value[key], ordered)}" for key in keys]) + "}"
    except TypeError:
        raise NotExact("", "A key is not text.") from None


def _in_order(value: dict[str, object]) -> list[str]:
    """RFC 8785 sorts by UTF-16 code units, which differs from code points above U+FFFF only."""
    try:
        keys = sorted(value)
        return keys if "".join(keys).isascii() else sorted(keys, key=_utf16)
    except TypeError:
        raise NotExact("", "A key is not text.") from None


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _spell_rare(value: object, ordered: bool) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Decimal):
        return spell_decimal(value)
    return _spell(_ordinary(value), ordered)


def _ordinary(value: object) -> object:
    """A tuple or a subclass as the type that it stands for."""
    match value:
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case list() | tuple():
            return [*value]
        case dict():
            return {**value}
        case _:
            raise NotExact("", f"{type(value).__name__} has no exact JSON form.")


__all__ = [
    "InvalidJson",
    "Json",
    "LoneSurrogate",
    "canonical",
    "digest_text",
    "escape",
    "exact",
    "parse",
    "parse_object",
    "plain",
    "pointer",
    "sha256_text",
]
