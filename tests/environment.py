"""Loaded by `-p` before Django's settings: where the tests' own server will be, without starting it."""

import os
import tempfile
from pathlib import Path

PREFIX = "agentops-test-"
HOME = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
DATABASE = "agentops"
(HOME / "static").mkdir()

os.environ["AGENTOPS_HOME"] = str(HOME)
os.environ["SECRET_KEY"] = "the-key-of-the-tests-which-protects-nothing-at-all-0123456789"
os.environ["AGENTOPS_HTTPS"] = "false"
os.environ["AGENTOPS_DEMO"] = "true"
os.environ["AGENTOPS_ALLOWED_HOSTS"] = "testserver,127.0.0.1,localhost"
for _name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "DEBUG", "AGENTOPS_HOST", "AGENTOPS_PORT"):
    os.environ.pop(_name, None)
for _name in [name for name in os.environ if name.startswith("OTEL_")]:
    os.environ.pop(_name)
