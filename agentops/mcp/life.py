"""The life of the server behind a mount: it begins with the first request, since loading it takes seconds."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any


class Life:
    """Begins and ends the session manager that `assemble` makes, both in one task, as it demands."""

    def __init__(self, assemble: Callable[[], Any]) -> None:
        self._assemble = assemble
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def server(self) -> Any:
        """The running session manager."""
        if self._task is None:
            self._begun: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            # In no request's context: what is served later is not the first caller's.
            self._task = asyncio.create_task(self._live(), context=Context())
        return await asyncio.shield(self._begun)

    async def end(self) -> None:
        """Cut off what is still served."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def _live(self) -> None:
        try:
            running = await asyncio.to_thread(self._assemble)
        except BaseException as error:
            self._begun.set_exception(error)
            self._task = None
            raise
        async with running.run():
            self._begun.set_result(running)
            await self._over.wait()
