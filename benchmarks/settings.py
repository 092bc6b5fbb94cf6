"""The product's own settings and, beside them, the tools and the task that measure."""

from agentops.settings import *  # noqa: F403 - exactly the product's
from agentops.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.apps.BenchmarksConfig"]
