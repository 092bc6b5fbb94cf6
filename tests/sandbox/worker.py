"""A worker that starts one command and then dies: `worker.py ARGV...`, with the settings of the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.sandbox.process import run_inside

if __name__ == "__main__":
    run_inside(sys.argv[1:], b"", 600, kept=100)
