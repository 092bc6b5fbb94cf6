"""What a command is started with, and that many may start one after another."""

from tests.sandbox.inside import python
from tools.sandbox.process import run_inside


def test_where_memory_runs_out_commands_are_ended_before_anything_of_ours() -> None:
    assert python("print(open('/proc/self/oom_score_adj').read())") == "1000"


def test_a_command_is_given_three_files_and_five_variables() -> None:
    seen = python("import os; print(sorted(os.listdir('/proc/self/fd')), sorted(os.environ))")
    assert seen == "['0', '1', '2', '3'] ['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']"


def test_sixty_four_in_a_row_all_start_under_a_limit_of_sixty_four_processes() -> None:
    busy = "i=0; while [ $i -lt 40 ]; do sleep 600 & i=$((i+1)); done; echo well"
    ends = [run_inside(["/bin/sh", "-c", busy], b"", 30, kept=100) for _ in range(64)]
    assert {(end.how, end.code, end.stdout) for end in ends} == {("ended", 0, b"well\n")}
