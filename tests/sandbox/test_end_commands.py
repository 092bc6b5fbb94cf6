"""However a command ends, the outcome says so, and nothing that it started is left."""

import json
import os
import resource
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest

from tests.sandbox.inside import PYTHON, command_spec, python
from tests.sandbox.processes import appear, marked, vanish
from tests.tools.calls import call_of
from tools.call import CancelSignal
from tools.domain.outcome import Failed, NotSent, Outcome, Succeeded, Unknown
from tools.executor import execute
from tools.kinds import command
from tools.sandbox.level import ISOLATED, level

DAEMONS = """
import os, sys, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3):
                os.close(fd)
            time.sleep(600)
        os._exit(0)
if sys.argv[2] == "stay":
    time.sleep(600)
"""

FD_SETSIZE = 1024
"""What `select` can still watch lies below."""
EVERY = 6
"""The sandbox's own three processes, the program, and its two daemons."""


def _mark() -> str:
    return f"agentops-mark-{uuid4()}"


def _run(*argv: str, risk: str = "read", seconds: float = 30.0, **fields: Any) -> Outcome:
    return execute(call_of(command_spec(*argv, risk=risk, **fields), seconds=seconds))


def _script(text: str, **fields: Any) -> Outcome:
    return _run("/bin/sh", "-c", text, **fields)


def test_what_a_command_prints_is_its_result() -> None:
    outcome = _run("/usr/bin/printf", "ü 1")
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.result == "ü 1"


def test_json_that_it_prints_stays_exact() -> None:
    spec = command_spec("/usr/bin/cat", command={"stdin": "args", "output": "json"})
    outcome = execute(call_of(spec, {"x": [2**80, "é; rm -rf /"]}))
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.result == {"x": [2**80, "é; rm -rf /"]}


def test_a_value_is_one_element_and_no_shell_reads_it() -> None:
    spec = command_spec(*PYTHON, "import sys; print(sys.argv[1:])", "{args.x}")
    outcome = execute(call_of(spec, {"x": "a b; $(id) `id` 'q\" \n*"}))
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.result == f"{['a b; $(id) `id` \'q" \n*']!r}\n"


@pytest.mark.parametrize(
    ("program", "how", "code"),
    [
        ("exit 3", "exit code 3.", "tool_failed"),
        ("echo first >&2; echo the disk is full >&2; exit 1", "exit code 1: the disk is full.", "tool_failed"),
        ("exit 137", "exit code 137, as one that SIGKILL killed.", "tool_failed"),
        ("kill -SEGV $$", "exit code 139, as one that SIGSEGV killed.", "tool_failed"),
        ("kill -9 0", "exit code 137, as one that SIGKILL killed.", "tool_failed"),
        (r"printf '\377'", "not UTF-8", "invalid_result"),
    ],
)
def test_each_bad_end_is_told(program: str, how: str, code: str) -> None:
    outcome = _script(program)
    assert isinstance(outcome, Failed), outcome
    assert how in outcome.error.message
    assert outcome.error.code == code


def test_a_change_that_ended_badly_may_have_acted_unless_the_code_says_that_it_did_not() -> None:
    lost, refused = (_script(f"exit {n}", risk="write", command={"not_applied": [4]}) for n in (3, 4))
    assert isinstance(lost, Unknown), lost
    assert lost.reason.startswith("exit_3: ")
    assert isinstance(refused, Failed), refused


def test_a_change_whose_answer_cannot_be_read_was_made() -> None:
    outcome = _script(r"printf '\377'", risk="write")
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.fault is not None
    assert outcome.fault.code == "invalid_result"


def test_no_output_is_an_empty_text_and_no_json() -> None:
    text, json = _script("true"), _script("true", command={"output": "json"})
    assert isinstance(text, Succeeded), text
    assert text.result == ""
    assert isinstance(json, Failed), json
    assert json.error.code == "invalid_result"


def test_a_program_that_is_not_there_has_certainly_not_acted() -> None:
    outcome = _run("/usr/bin/no-such-program", risk="destructive")
    assert isinstance(outcome, Failed), outcome
    assert "/usr/bin/no-such-program" in outcome.error.message


def test_a_machine_with_no_room_for_another_file_has_certainly_not_started_it() -> None:
    assert level().number == ISOLATED
    with _room_for(3):
        outcome = _run("/usr/bin/true", risk="destructive")
    assert isinstance(outcome, Failed), outcome
    assert (outcome.error.code, outcome.error.retryable) == ("sandbox_unavailable", True)


def test_a_worker_with_more_than_a_thousand_open_files_hears_how_it_ended() -> None:
    with _room_for(2 * FD_SETSIZE), ExitStack() as opened:
        while opened.enter_context(Path(os.devnull).open("rb")).fileno() < FD_SETSIZE:
            pass
        outcome = _run("/usr/bin/true", risk="destructive")
    assert isinstance(outcome, Succeeded), outcome


def test_too_much_output_is_cut_and_never_held() -> None:
    flood = "head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2"
    tracemalloc.start()
    outcome = _script(flood, timeout_ms=60_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(outcome, Failed), outcome
    assert outcome.error.code == "result_too_large"
    assert most < 12_000_000


def test_input_that_nobody_reads_holds_nothing_up() -> None:
    spec = command_spec("/usr/bin/true", command={"stdin": "args"})
    assert isinstance(execute(call_of(spec, {"x": "y" * 3_000_000})), Succeeded)


@pytest.mark.parametrize("risk", ["read", "destructive"])
def test_an_overrun_ends_everything_that_was_started(risk: str) -> None:
    mark = _mark()
    outcome = _run(*PYTHON, DAEMONS, mark, "stay", risk=risk, timeout_ms=1_500)
    assert marked(mark) == []
    told = outcome.reason if isinstance(outcome, Unknown) else outcome.error.code  # type: ignore[union-attr]
    assert told.startswith("timeout")
    assert isinstance(outcome, Failed if risk == "read" else Unknown)


def test_what_a_command_leaves_behind_ends_with_it() -> None:
    mark = _mark()
    outcome = _run(*PYTHON, DAEMONS, mark, "leave")
    assert isinstance(outcome, Succeeded), outcome
    assert marked(mark) == []


def test_a_cancelled_command_ends_within_a_second_with_all_that_it_started() -> None:
    mark, signal = _mark(), CancelSignal()
    outcomes: list[Outcome] = []
    spec = command_spec(*PYTHON, DAEMONS, mark, "stay", risk="destructive", timeout_ms=60_000)
    call = threading.Thread(target=lambda: outcomes.append(execute(call_of(spec, cancelled=signal))))
    call.start()
    appear(mark, EVERY)
    asked = time.monotonic()
    signal.set()
    call.join()
    assert time.monotonic() - asked < 1
    assert marked(mark) == []
    assert isinstance(outcomes[0], Unknown)
    assert outcomes[0].reason.startswith("cancelled: ")


def test_a_call_that_is_cancelled_before_it_starts_is_not_sent() -> None:
    signal = CancelSignal()
    signal.set()
    assert isinstance(execute(call_of(command_spec("/usr/bin/true", risk="write"), cancelled=signal)), NotSent)


def test_a_call_without_time_to_start_its_command_is_not_sent() -> None:
    assert isinstance(command.run(call_of(command_spec("/usr/bin/true", risk="write")), 0), NotSent)


def test_a_sandbox_that_somebody_kills_leaves_a_change_unknown() -> None:
    mark = _mark()
    outcomes: list[Outcome] = []
    with _running(lambda: outcomes.append(_run(*PYTHON, DAEMONS, mark, "stay", risk="write"))):
        appear(mark, EVERY)
        _outermost(mark).kill()
    assert isinstance(outcomes[0], Unknown), outcomes
    vanish(mark, within=2)


def test_commands_end_with_the_worker_that_started_them() -> None:
    worker, mark = _worker(seconds=600)
    worker.kill()
    worker.wait()
    vanish(mark, within=1)


def test_a_command_whose_worker_is_frozen_ends_soon_after_its_time() -> None:
    worker, mark = _worker(seconds=2)
    worker.suspend()
    vanish(mark, within=6)
    worker.kill()
    worker.wait()


def test_two_at_once_see_neither_files_nor_processes_of_each_other() -> None:
    mark, signal = _mark(), CancelSignal()
    stay = "import pathlib, sys, time; pathlib.Path('mine').write_text('x'); time.sleep(600)"
    first = command_spec(*PYTHON, stay, mark)
    look = "import os, pathlib; print(os.listdir('/work'), len(list(pathlib.Path('/proc').glob('[0-9]*'))))"
    with _running(lambda: execute(call_of(first, cancelled=signal))):
        appear(mark, 1)
        seen = python(look)
        signal.set()
    assert seen == "[] 3"


def _worker(*, seconds: float) -> tuple[psutil.Popen, str]:
    """A worker of its own whose command runs, and the mark of that."""
    mark, program = _mark(), str(Path(__file__).with_name("worker.py"))
    command = json.dumps([*PYTHON, DAEMONS, mark, "stay"])
    worker = psutil.Popen([sys.executable, program, str(seconds)], env={**os.environ, "COMMAND": command})
    appear(mark, EVERY)
    return worker, mark


def _outermost(mark: str) -> psutil.Process:
    return min(marked(mark), key=lambda process: process.create_time())


@contextmanager
def _room_for(files: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def _running(work: Callable[[], object]) -> Any:
    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()
