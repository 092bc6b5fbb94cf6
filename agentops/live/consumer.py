"""The socket of an open page: says which rows of its tenant changed, never what they contain."""

import asyncio
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user

from agentops.tenancy.access import actor_for_session
from agentops.tenancy.errors import NotAMember
from agentops.tenancy.models import User
from agentops.tenancy.session import tenant_of_session

RECHECK_SECONDS = 30.0
NOT_ALLOWED = 4401
FACT = ("type", "kind", "id")
_STORE = import_module(settings.SESSION_ENGINE).SessionStore


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """Joins the group of the tenant that the session is in; leaves when the person may no longer see it."""

    tenant_id: UUID | None = None
    user_id: UUID | None = None
    watch: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accept members; everybody else is told so with a code that the page understands."""
        self.tenant_id = await self._tenant_now()
        if self.tenant_id is None:
            await self.accept()
            await self.close(code=NOT_ALLOWED)
            return
        # In the group first: the page reads everything again once it is accepted, so nothing falls in between.
        await self.channel_layer.group_add(self._group(), self.channel_name)
        await self.accept()
        self.watch = asyncio.create_task(self._recheck())

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.watch is not None:
            self.watch.cancel()
        if self.tenant_id is not None:
            await self.channel_layer.group_discard(self._group(), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """A page has nothing to say."""

    async def row_changed(self, fact: dict[str, Any]) -> None:
        """Pass one fact on; one about this person is first a question whether they may still see any."""
        if fact["kind"] == "member" and fact["id"] == str(self.user_id) and await self._is_gone():
            return
        await self.send_json({name: fact[name] for name in FACT})

    async def facts_missed(self, _message: dict[str, Any]) -> None:
        """The page reads everything again, if the person may still see it."""
        if not await self._is_gone():
            await self.send_json({"type": "facts.missed"})

    async def _recheck(self) -> None:
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            if await self._is_gone():
                return

    async def _is_gone(self) -> bool:
        if await self._tenant_now() == self.tenant_id:
            return False
        # Nothing more is passed on, whatever is on its way already.
        await self.channel_layer.group_discard(self._group(), self.channel_name)
        await self.close(code=NOT_ALLOWED)
        return True

    def _group(self) -> str:
        return f"tenant.{self.tenant_id}"

    @database_sync_to_async
    def _tenant_now(self) -> UUID | None:
        """The tenant that the session is in at this moment, read from the database again."""
        stored = _STORE(self.scope["session"].session_key)
        # As for any page: the session exists, and its hash is still that of the person's password.
        user = get_user(SimpleNamespace(session=stored))  # type: ignore[arg-type]  # it reads the session alone
        with suppress(NotAMember):
            if isinstance(user, User):
                self.user_id = user.id
                return actor_for_session(user, tenant_of_session(stored, user), door="live").tenant_id
        return None
