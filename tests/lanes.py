"""How pytest-xdist shares tests out: by files, and what has real processes in two lanes, which start first."""

import pytest
from xdist.scheduler import LoadScopeScheduling

# Many of these at once would wait for each other's processes. Those of the first lane mostly wait, for leases and for
# what comes back; those of the second work, the browsers last. Every other file goes to whoever is free.
_LANES = (("faults", "stories"), ("races", "live", "embedded", "browser"))
_ORDER = tuple(folder for lane in _LANES for folder in lane)


class Lanes(LoadScopeScheduling):  # type: ignore[misc]  # xdist is not typed
    """A file stays with one worker, so that what it starts is started once."""

    def _split_scope(self, nodeid: str) -> str:
        folder = _folder(nodeid)
        return next((lane[0] for lane in _LANES if folder in lane), nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes:
    """In the order of the tests, not by their number: the long lanes are not those with the most."""
    config.option.loadscopereorder = False
    return Lanes(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long lanes first."""
    items.sort(key=lambda item: _place(_folder(item.nodeid)))


def _place(folder: str) -> int:
    return _ORDER.index(folder) if folder in _ORDER else len(_ORDER)


def _folder(nodeid: str) -> str:
    return nodeid.removeprefix("tests/").split("/", 1)[0]
