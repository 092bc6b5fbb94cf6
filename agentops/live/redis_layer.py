"""The live layer in Redis, which says so when its connection was lost: nobody keeps what was sent meanwhile."""

from collections.abc import Callable
from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer, RedisSingleShardConnection
from redis.asyncio.client import PubSub

from agentops.telling import MISSED


class Layer(RedisPubSubChannelLayer):  # type: ignore[misc]  # channels_redis is not typed
    """As the library's, with a shard that watches its connection."""

    def _get_layer(self) -> Any:
        known = len(self._layers)
        layer = super()._get_layer()
        if len(self._layers) > known:
            layer._shards = [_Shard(shard.host, layer) for shard in layer._shards]  # noqa: SLF001 - it takes no class
        return layer


class _Shard(RedisSingleShardConnection):  # type: ignore[misc]  # as above
    def _ensure_redis(self) -> None:
        if self._redis is None:
            super()._ensure_redis()
            redis: Any = self._redis
            self._pubsub = _Watched(redis.connection_pool, self._say_missed)

    def _say_missed(self) -> None:
        layer = self.channel_layer
        for queue in layer.channels.values():
            queue.put_nowait(layer.channel_layer.serialize(MISSED))


class _Watched(PubSub):
    def __init__(self, pool: Any, reconnected: Callable[[], None]) -> None:
        super().__init__(pool)
        self._reconnected = reconnected

    async def on_connect(self, connection: Any) -> None:
        """Called with every connection but the first, which is made before there is anything to subscribe to again."""
        await super().on_connect(connection)
        self._reconnected()
