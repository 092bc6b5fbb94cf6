"""Where a tool can connect to: every case of cases/ssrf.json.

The names are answered by the lab's own zone, so that the policy is exercised as it stands: text, then all addresses.
The lab with real interfaces runs in a network namespace of its own where the machine allows one.
"""

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.missing import not_here
from tools.domain.egress import Destination, EgressPolicy, HostRefused, destination, is_public

CASES: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cases" / "ssrf.json").read_text())
NAMES = [*CASES["zone"], "rebind.test", "localhost", "127.0.0.1"]
LISTED = frozenset(f"{name}:80" for name in NAMES if name != "evil.test")
_LAB = Path(__file__).parent / "egress_lab.py"


def _connects_to(url: str, policy: EgressPolicy, rebinding: "itertools.cycle[str]") -> str:
    where = policy.check_url(url)
    zone = CASES["zone"].get(where.host, {"a": ["127.0.0.1"], "aaaa": []})
    answers = [next(rebinding)] if where.host == "rebind.test" else [*zone["a"], *zone["aaaa"]]
    return policy.check_addresses(where, answers)


def _policy() -> EgressPolicy:
    return EgressPolicy(LISTED)


@pytest.mark.parametrize("url", CASES["bad"])
def test_an_attack_reaches_no_forbidden_address(url: str) -> None:
    rebinding = itertools.cycle(CASES["rebind"])
    for _ in range(4):
        try:
            address = _connects_to(url, _policy(), rebinding)
        except HostRefused:
            continue
        assert address in CASES["public"]


@pytest.mark.parametrize("url", CASES["good"])
def test_a_good_address_is_reached(url: str) -> None:
    assert _connects_to(url, _policy(), itertools.cycle(CASES["rebind"])) in CASES["public"]


@pytest.mark.parametrize("url", [u for u in CASES["not_listed"] if "redir" not in u])
def test_a_host_that_is_not_listed_is_refused(url: str) -> None:
    with pytest.raises(HostRefused):
        _connects_to(url, _policy(), itertools.cycle(CASES["rebind"]))


@pytest.mark.parametrize("address", CASES["addresses_v4"] + CASES["addresses_v6"])
def test_addresses_of_the_lab_are_public_or_not(address: str) -> None:
    listed = set(CASES["public"]) | {"93.184.216.35"}
    assert is_public(address) is (address in listed)


@pytest.mark.parametrize("address", ["::ffff:127.0.0.1", "::ffff:93.184.216.34", "fe80::1%lo", "0.0.0.0", "nonsense"])
def test_wrapped_and_strange_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_the_operator_excepts_an_exact_host_and_port() -> None:
    policy = EgressPolicy(frozenset({"127.0.0.1:8000", "127.0.0.1:8001"}), frozenset({"127.0.0.1:8000"}))
    where = policy.check_url("http://127.0.0.1:8000/x")
    assert policy.check_addresses(where, ["127.0.0.1"]) == "127.0.0.1"
    with pytest.raises(HostRefused):
        policy.check_url("http://127.0.0.1:8001/x")


def test_one_private_answer_among_public_ones_refuses_all() -> None:
    with pytest.raises(HostRefused):
        _policy().check_addresses(Destination("mixed.test", 80), ["93.184.216.34", "10.0.0.1"])


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/x", "a.example:443"),
        ("http://a.example:8080", "a.example:8080"),
        ("http://[2606:4700::1]/", "[2606:4700::1]:80"),
        ("http://192.0.2.1:81/", "192.0.2.1:81"),
    ],
)
def test_a_canonical_address_is_read(url: str, expected: str) -> None:
    assert str(destination(url)) == expected


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "//a.example/",
        "http:///x",
        "http://A.example/",
        "http://a.example./",
        "http://a..example/",
        "http://-a.example/",
        "http://a.example:99999/",
        "http://a.example:x/",
        "http://user@a.example/",
        "http://a%2eexample/",
        "http://[::0001]/",
        "http://[fe80::1%25lo]/",
        "http://1.2.3/",
        "http://0x7f.1/",
        "http://a.example/\r\nHost: b",
        "http://a.example/ x",
        "http://a.example\\@b.example/",
    ],
)
def test_what_is_not_canonical_is_refused(url: str) -> None:
    with pytest.raises(HostRefused):
        destination(url)


def test_the_lab_with_real_interfaces() -> None:
    """The executor itself against every address of the lab, in a network namespace that has only lo."""
    unshare = shutil.which("unshare")
    usable = unshare and subprocess.run([unshare, "-Urn", "true"], capture_output=True, check=False).returncode == 0
    if not usable or shutil.which("ip") is None:
        not_here("no network namespaces here")
    root = Path(__file__).parents[2]
    command = [str(unshare), "-Urnm", sys.executable, "-m", "tests.tools.egress_lab"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _LAB.exists()
