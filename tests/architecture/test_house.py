"""The house rules that no other tool checks: imports, sizes, names, and documents that could drift."""

import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from agentops.env import Env

ROOT = Path(__file__).parents[2]
CODE = ("agentops", "approvals", "demo", "runs", "tools")
FORBIDDEN = {
    "utils",
    "util",
    "common",
    "helpers",
    "helper",
    "base",
    "manager",
    "managers",
    "service",
    "services",
    "misc",
}


def sources() -> list[Path]:
    return [path for name in CODE for path in (ROOT / name).rglob("*.py") if "migrations" not in path.parts]


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *(path for name in ("docs", "clients") for path in (ROOT / name).rglob("*.md"))]


def test_the_import_contracts_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_stops_at_250_lines_and_says_why_it_exists(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 250
    assert not text or text.startswith(('"""', "#!"))


def test_expressions_load_no_terminal_toolkit_into_every_process() -> None:
    code = "import sys, tools.domain.expressions; print('prompt_toolkit' in sys.modules, 'cel.cli' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_no_file_has_a_name_that_says_nothing() -> None:
    # Where Django looks for a database backend.
    backend = ROOT / "agentops" / "postgres" / "base.py"
    assert [path for path in sources() if path.stem in FORBIDDEN and path != backend] == []


def test_every_setting_is_documented_and_every_documented_setting_exists() -> None:
    documented = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert documented == {name.upper() for name in Env.model_fields}


def test_the_compose_file_sets_only_variables_that_exist() -> None:
    used = set(
        re.findall(r"^\s+(AGENTOPS_[A-Z_]+|DATABASE_[A-Z_]*URL|REDIS_URL):", _read("compose.yaml"), re.MULTILINE)
    )
    assert used <= {name.upper() for name in Env.model_fields}


def test_the_compose_file_follows_the_specification() -> None:
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [str(program), "--builtin-schema", "vendor.compose-spec", str(ROOT / "compose.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_proxy_passes_the_socket_of_open_pages_to_the_service_that_holds_it() -> None:
    (patterns,) = re.findall(r"@live {\s+path (.+)", _read("compose.yaml"))
    (socket,) = re.findall(r"location.host}(/\w+)`", _read("static/js/live.js"))
    assert any(fnmatch(socket, pattern) for pattern in patterns.split())


def test_the_image_runs_as_a_plain_user_and_holds_no_installation() -> None:
    last_stage = _read("Dockerfile").rsplit("\nFROM ", 1)[1]
    assert re.findall(r"^USER (.+)$", last_stage, re.MULTILINE) == ["agentops"]
    assert {".git", ".agentops", ".env*", ".venv"} <= set(_read(".dockerignore").splitlines())


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_that_a_document_names_exists(document: str) -> None:
    named = set(re.findall(r"(?:`|^    |&& )make ([a-z-]+)", _read(document), re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", _read("Makefile"), re.MULTILINE))
    assert named
    assert named <= targets


def test_make_keeps_bytecode_also_where_containers_forbid_it() -> None:
    told = subprocess.run(
        ["make", "--silent", "--eval", "told: ; @env", "told"],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PATH=" in told.stdout
    assert "PYTHONDONTWRITEBYTECODE" not in told.stdout


def test_every_test_that_guards_against_a_bug_of_others_exists() -> None:
    named = re.findall(r"`(\w+/\w+\.py)::(test_\w+)`", _read("docs/faults.md"))
    assert named
    assert [(file, name) for file, name in named if f"\ndef {name}(" not in _read(f"tests/{file}")] == []


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads(_read("pyproject.toml"))["project"]
    names = {re.split(r"[\[><=~ ]", requirement)[0] for requirement in project["dependencies"]}
    explained = set(re.findall(r"`([a-z0-9-]+)`", _read("docs/dependencies.md")))
    assert names - explained == set()


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_document_names_exists(document: Path) -> None:
    text, folders = document.read_text(), "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
    linked = {document.parent / link for link in re.findall(r"\]\((?!\w+:)([^)#]+)", text)}
    named = {ROOT / name for name in re.findall(rf"`((?:{folders})/[\w./-]*(?:/|\.\w+))`", text)}
    assert [path for path in linked | named if not path.exists()] == []


def test_every_operation_in_the_life_of_a_call_has_its_file() -> None:
    named = set(re.findall(r"`(\w+\.py)`", _read("docs/call-life-cycle.md")))
    assert named
    assert named <= {path.name for path in (ROOT / "runs" / "operations").iterdir()}


def _read(name: str) -> str:
    return (ROOT / name).read_text()
