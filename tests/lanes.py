"""How pytest-xdist shares tests out: by files, and what has real processes in one lane, which starts first."""

import pytest
from xdist.scheduler import LoadScopeScheduling

# These start servers, workers or browsers and wait for them: side by side they would wait for each other's.
_PROCESSES = ("browser", "conformance", "embedded", "faults", "live", "mcp", "races", "stories")


class Lanes(LoadScopeScheduling):  # type: ignore[misc]  # xdist is not typed
    """A file stays with one worker, so that what it starts is started once."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "processes" if _has_processes(file) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes:
    """In the order of the tests, not by their number: the long lane is not the one with the most."""
    config.option.loadscopereorder = False
    return Lanes(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long lane first."""
    items.sort(key=lambda item: not _has_processes(item.nodeid))


def _has_processes(nodeid: str) -> bool:
    return nodeid.removeprefix("tests/").split("/", 1)[0] in _PROCESSES
