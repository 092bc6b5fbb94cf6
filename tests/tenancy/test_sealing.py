"""Sealed values open for their own row alone, also after SECRET_KEY was rotated."""

import pytest
from pytest_django import Settings

from agentops.tenancy.errors import SealBroken
from agentops.tenancy.ids import uuid7
from agentops.tenancy.sealing import is_stale, seal, tenant_hmac_key, unseal

_TENANT, _ROW = uuid7(), "tools_credential/1"


def test_a_sealed_value_opens_for_its_row() -> None:
    sealed = seal(_TENANT, _ROW, b"secret\x00value")
    assert b"secret" not in sealed
    assert unseal(_TENANT, _ROW, sealed) == b"secret\x00value"


def test_the_same_value_is_sealed_differently_each_time() -> None:
    assert seal(_TENANT, _ROW, b"x") != seal(_TENANT, _ROW, b"x")


def test_another_row_or_tenant_cannot_open_it() -> None:
    sealed = seal(_TENANT, _ROW, b"x")
    for tenant, row in ((_TENANT, "tools_credential/2"), (uuid7(), _ROW)):
        with pytest.raises(SealBroken):
            unseal(tenant, row, sealed)


@pytest.mark.parametrize("place", [0, 1, 5, 20, -1])
def test_a_changed_byte_is_found(place: int) -> None:
    sealed = bytearray(seal(_TENANT, _ROW, b"a longer value"))
    sealed[place] ^= 1
    with pytest.raises(SealBroken):
        unseal(_TENANT, _ROW, bytes(sealed))


@pytest.mark.parametrize("rest", [b"", b"\x01", b"\x01abcd", b"nonsense"])
def test_what_was_never_sealed_does_not_open(rest: bytes) -> None:
    with pytest.raises(SealBroken):
        unseal(_TENANT, _ROW, rest)


def test_after_a_rotation_old_values_open_and_are_stale_and_tags_stay(settings: Settings) -> None:
    sealed, tag_key, old = seal(_TENANT, _ROW, b"x"), tenant_hmac_key(_TENANT), settings.SECRET_KEY
    assert not is_stale(sealed)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new key that is long enough for anybody", [old]
    assert unseal(_TENANT, _ROW, sealed) == b"x"
    assert is_stale(sealed)
    assert tenant_hmac_key(_TENANT) == tag_key
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(SealBroken):
        unseal(_TENANT, _ROW, sealed)


def test_each_tenant_has_its_own_tag_key() -> None:
    assert tenant_hmac_key(_TENANT) != tenant_hmac_key(uuid7())
