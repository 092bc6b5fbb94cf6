"""Logging through structlog: one line an event, JSON where nobody watches, plain text in a terminal."""

from contextlib import AbstractContextManager
from typing import Any

import structlog

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def logging_settings(level: str, *, plain: bool) -> dict[str, Any]:
    """Django's LOGGING; structlog's own loggers go the same way."""
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": lambda: _formatter(plain=plain)}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "uvicorn.access": {"level": "WARNING"},
            # A server by itself says where it listens; under `up` that is said once, for all parts.
            "uvicorn.error": {"level": "WARNING" if plain else "INFO"},
            "channels_postgres": {"level": "ERROR"},
            "mcp": {"level": "WARNING"},
        },
    }


def naming(**ids: object) -> AbstractContextManager[None]:
    """Every line that is logged meanwhile carries these ids, also from threads that took this context along."""
    return structlog.contextvars.bound_contextvars(**{name: str(value) for name, value in ids.items()})


def _formatter(*, plain: bool) -> structlog.stdlib.ProcessorFormatter:
    renderer: Any = structlog.processors.JSONRenderer()
    if plain:
        renderer = structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0)
    before = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    processors = [*before, renderer] if plain else [*before, structlog.processors.format_exc_info, renderer]
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=_SHARED, processors=processors)
