"""An outside agent and a person's browser, both over real HTTP."""

import base64
import hashlib
import html
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from django.conf import settings

from tests.cast import Person

REDIRECT = "http://127.0.0.1:7777/callback"
# Nobody closes these clients, so they keep no connection.
_UNKEPT = httpx2.Limits(max_keepalive_connections=0)


class Outside:
    """A client that introduced itself; each request has a PKCE pair of its own."""

    def __init__(self, base: str, *, name: str = "Claude Code", resource: str = "/api/v1") -> None:
        self.base, self.resource = base, base + resource
        self.http = httpx2.Client(base_url=base, timeout=60, limits=_UNKEPT)
        self.verifier, self.state = secrets.token_urlsafe(48), secrets.token_urlsafe(8)
        said = {"client_name": name, "redirect_uris": [REDIRECT]}
        self.id: str = self.http.post("/oauth/registration", json=said).json()["client_id"]

    def address(self, *leave: str, **other: str | list[str]) -> str:
        """Where the person is sent."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        asked: dict[str, Any] = {
            "response_type": "code", "client_id": self.id, "redirect_uri": REDIRECT, "state": self.state,
            "code_challenge": challenge, "code_challenge_method": "S256", "resource": self.resource,
            "scope": "runs:read runs:write", **other,
        }  # fmt: skip
        return "/oauth/authorize?" + urlencode({k: v for k, v in asked.items() if k not in leave}, doseq=True)

    def exchange(self, code: str, **other: str) -> httpx2.Response:
        """The code for tokens."""
        given = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "client_id": self.id,
            "code_verifier": self.verifier, "resource": self.resource, **other,
        }  # fmt: skip
        return self.http.post("/oauth/token", data={k: v for k, v in given.items() if v})

    def refresh(self, token: str, **other: str) -> httpx2.Response:
        """The refresh token for the next pair."""
        given = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.id, **other}
        return self.http.post("/oauth/token", data=given)

    def call(self, token: str, path: str = "/api/v1/runs") -> httpx2.Response:
        """A call with an access token."""
        return self.http.get(path, headers={"Authorization": f"Bearer {token}"})


@dataclass
class Visit:
    """A person's browser at the served product."""

    base: str
    person: Person
    http: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        client = self.person.signed_in()
        name = settings.SESSION_COOKIE_NAME
        cookies = {name: client.cookies[name].value}
        self.http = httpx2.Client(base_url=self.base, timeout=60, limits=_UNKEPT, cookies=cookies)

    def open(self, address: str) -> httpx2.Response:
        """The page."""
        return self.http.get(address)

    def answer(self, address: str, *, give: list[str] | None = None, button: str = "allow") -> httpx2.Response:
        """The page's form, with what is ticked to begin with unless `give` says otherwise."""
        page = self.open(address)
        assert page.status_code == 200, page.text
        return self.send(page.text, address, give=give, button=button)

    def send(self, page: str, address: str, *, give: list[str] | None = None, button: str = "allow") -> httpx2.Response:
        """The form of a page that was opened before."""
        (team,) = re.findall(r'name="team" value="([^"]*)"', page)
        return self.post(page, address, {button: "yes", "give": ticked(page) if give is None else give, "team": team})

    def post(self, page: str, address: str, said: dict[str, Any] | None = None) -> httpx2.Response:
        """What a form of this page sends."""
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[0]
        return self.http.post(address, data={"csrfmiddlewaretoken": token, **(said or {})})


def ticked(page: str) -> list[str]:
    """What the page proposes."""
    return re.findall(r'name="give" value="([^"]+)" checked', page)


def offered(page: str) -> list[str]:
    """What the page lets one choose from."""
    return re.findall(r'name="give" value="([^"]+)"', page)


def text(page: str) -> str:
    """What a reader sees, roughly."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def told(answer: httpx2.Response) -> dict[str, str]:
    """What the client is told at its address."""
    assert answer.status_code == 303, answer.text
    where = urlsplit(answer.headers["Location"])
    assert f"{where.scheme}://{where.netloc}{where.path}" == REDIRECT
    return {name: values[0] for name, values in parse_qs(where.query).items()}


def let_in(agent: Outside, person: Person, **asked: str) -> dict[str, Any]:
    """The whole way: asked, allowed with what is ticked, exchanged."""
    code = told(Visit(agent.base, person).answer(agent.address(**asked)))["code"]
    tokens: dict[str, Any] = agent.exchange(code).json()
    return tokens
