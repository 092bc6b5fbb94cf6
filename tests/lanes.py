"""How pytest-xdist shares tests out: by files, and what has real processes in one lane, which starts first."""

import pytest
from xdist.scheduler import LoadScopeScheduling

# These start several processes, or measure time: side by side they would wait for each other's. What mostly waits comes
# first, beside the busiest of the rest, and the browsers come last.
_PROCESSES = ("faults", "stories", "races", "live", "embedded", "browser")


class Lanes(LoadScopeScheduling):  # type: ignore[misc]  # xdist is not typed
    """A file stays with one worker, so that what it starts is started once."""

    def _split_scope(self, nodeid: str) -> str:
        return "processes" if _folder(nodeid) in _PROCESSES else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes:
    """In the order of the tests, not by their number: the long lane is not the one with the most."""
    config.option.loadscopereorder = False
    return Lanes(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long lane first."""
    items.sort(key=lambda item: _place(_folder(item.nodeid)))


def _place(folder: str) -> int:
    return _PROCESSES.index(folder) if folder in _PROCESSES else len(_PROCESSES)


def _folder(nodeid: str) -> str:
    return nodeid.removeprefix("tests/").split("/", 1)[0]
