"""A worker whose only call is the command in `COMMAND`, a list in JSON: `worker.py SECONDS`."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.sandbox.process import run_inside

if __name__ == "__main__":
    run_inside(json.loads(os.environ["COMMAND"]), b"", float(sys.argv[1]), kept=100)
