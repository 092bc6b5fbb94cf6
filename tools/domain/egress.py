"""Where a tool may connect to, decided on names and addresses alone.

Hosts that are not written canonically are refused rather than normalised: every spelling that two parsers read in two
ways is an attack. An address is allowed when it is public, or when the operator listed the exact `host:port`.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from agentops.domain_error import DomainError

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_HOST = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}\Z")
_NUMERIC_LABEL = re.compile(r"(0x[0-9a-f]*|[0-9]+)\Z")
_SAFE_URL = re.compile(r"[!-\[\]-~]+\Z")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NEVER = tuple(
    ipaddress.ip_network(net)
    for net in (
        "168.63.129.16/32",  # Azure's wire server, a public address with host metadata
        "0.0.0.0/8",
        "100.64.0.0/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "224.0.0.0/3",
        "::/96",
        "::ffff:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)


class HostRefused(DomainError):
    """This address is not allowed."""

    code = "egress_denied"


@dataclass(frozen=True, slots=True, order=True)
class Destination:
    """A host as written (lower case, IPv6 in brackets) and a port; printed as `host:port`."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """`allowed`: the tool's own list of `host:port`. `private`: the operator's list of exceptions to *public only*."""

    allowed: frozenset[str]
    private: frozenset[str] = frozenset()

    def check_url(self, url: str) -> Destination:
        """The destination of `url`. Raises HostRefused."""
        where = destination(url)
        if str(where) not in self.allowed:
            raise HostRefused(f"{where} is not on the tool's list of destinations.")
        if is_literal(where.host) and str(where) not in self.private:
            raise HostRefused("An IP address instead of a host name is only allowed when the operator lists it.")
        return where

    def check_addresses(self, where: Destination, addresses: list[str]) -> str:
        """The address to connect to; every answer of the name must be allowed. Raises HostRefused."""
        if not addresses:
            raise HostRefused(f"{where.host} has no address.")
        if str(where) not in self.private:
            for address in addresses:
                if not is_public(address):
                    raise HostRefused(f"{where.host} leads to an address that is not public.")
        return addresses[0]


def destination(url: str) -> Destination:
    """Host and port of `url`. Raises HostRefused for anything that is not written canonically."""
    if not _SAFE_URL.match(url):
        raise HostRefused("The address holds characters that do not belong there.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise HostRefused("The address cannot be read.") from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise HostRefused("Only http and https are spoken.")
    if "@" in parts.netloc or "%" in parts.netloc:
        raise HostRefused("A user name in the address is not allowed.")
    host = _canonical_host(parts.hostname or "", parts.netloc)
    return Destination(host, port if port is not None else _DEFAULT_PORTS[parts.scheme])


def _canonical_host(host: str, netloc: str) -> str:
    written = netloc.rpartition(":")[0] if re.search(r":\d*\Z", netloc) and not netloc.endswith("]") else netloc
    if written.startswith("["):
        return _canonical_ipv6(host, written)
    if written != host or not _HOST.match(host) or len(host) > 253:
        raise HostRefused("The host is not written canonically.")
    if _NUMERIC_LABEL.match(host.rpartition(".")[2]) and not _is_canonical_ipv4(host):
        raise HostRefused("The host is not written canonically.")
    return host


def _canonical_ipv6(host: str, written: str) -> str:
    try:
        canonical = str(ipaddress.IPv6Address(host))
    except ValueError:
        raise HostRefused("The host is not written canonically.") from None
    if written != f"[{canonical}]":
        raise HostRefused("The host is not written canonically.")
    return written


def _is_canonical_ipv4(host: str) -> bool:
    try:
        return str(ipaddress.IPv4Address(host)) == host
    except ValueError:
        return False


def is_literal(host: str) -> bool:
    """Whether the host is an IP address and not a name."""
    return host.startswith("[") or _is_canonical_ipv4(host)


def is_public(address: str) -> bool:
    """Whether an address is one on the internet, whatever form it is wrapped in."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return parsed.is_global and not parsed.is_multicast and not any(parsed in net for net in _NEVER)
