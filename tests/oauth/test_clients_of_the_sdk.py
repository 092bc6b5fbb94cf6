"""The MCP SDK's own OAuth client finds us, introduces itself, is let in, and comes back by itself."""

import asyncio
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.cast import Cast, Person
from tests.mcp.agent import LEGACY, MODERN
from tests.oauth.party import REDIRECT, Visit, told
from tests.runs.scenario import Stage, new_stage
from tests.served import Served


@pytest.fixture
def stage(cast: Cast) -> Stage:
    """A tenant with one external agent."""
    stage = new_stage(cast)
    stage.external()
    return stage


class Kept(TokenStorage):
    """What the client remembers."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Signing:
    """The person whom the client sends to their browser, and who comes back."""

    def __init__(self, base: str, person: Person) -> None:
        self.base, self.person = base, person
        self.asked: list[str] = []
        self.answer: dict[str, str] = {}

    async def opened(self, address: str) -> None:
        """The page is opened and allowed."""
        self.asked.append(address)
        self.answer = await asyncio.to_thread(self._allow, address)

    async def returned(self) -> AuthorizationCodeResult:
        """What came to the client's address."""
        return AuthorizationCodeResult(
            code=self.answer["code"], state=self.answer.get("state"), iss=self.answer.get("iss")
        )

    def _allow(self, address: str) -> dict[str, str]:
        parts = urlsplit(address)
        return told(Visit(self.base, self.person).answer(f"{parts.path}?{parts.query}"))


def provider(served: Served, kept: Kept, signing: Signing) -> OAuthClientProvider:
    """The SDK's client for the REST resource."""
    said = OAuthClientMetadata(client_name="SDK", redirect_uris=[AnyUrl(REDIRECT)])
    return OAuthClientProvider(
        f"{served.url}/api/v1", said, kept, redirect_handler=signing.opened, callback_handler=signing.returned
    )


async def test_the_sdks_client_goes_the_whole_way_and_refreshes_without_asking_again(
    served: Served, cast: Cast
) -> None:
    kept, signing = Kept(), Signing(served.url, cast.alice)
    auth = provider(served, kept, signing)
    async with httpx2.AsyncClient(auth=auth, timeout=60) as http:
        assert (await http.get(f"{served.url}/api/v1/runs")).status_code == 200
        first = kept.tokens
        assert first is not None
        auth.context.token_expiry_time = 1.0
        assert (await http.get(f"{served.url}/api/v1/runs")).status_code == 200
    assert kept.tokens is not None
    assert kept.tokens.access_token != first.access_token
    assert len(signing.asked) == 1
    assert "code_challenge_method=S256" in signing.asked[0]
    assert "resource=http" in signing.asked[0]


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_the_sdks_mcp_client_is_let_in_at_the_door_and_sees_what_its_person_ticked(
    served: Served, stage: Stage, era: str
) -> None:
    signing = Signing(served.url, stage.cast.alice)
    said = OAuthClientMetadata(client_name="SDK", redirect_uris=[AnyUrl(REDIRECT)])
    address = f"{served.url}/mcp"
    auth = OAuthClientProvider(
        address, said, Kept(), redirect_handler=signing.opened, callback_handler=signing.returned
    )
    async with (
        httpx2.AsyncClient(auth=auth, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=era, cache=None) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "t_read" in names
    assert "t_pay_plain" not in names
    assert len(signing.asked) == 1
