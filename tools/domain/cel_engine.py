"""CEL's engine without its command line, which would load a terminal's toolkit into every process for a second."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_COMMAND_LINE = "cel.cli"


def _engine() -> Any:
    sys.modules[_COMMAND_LINE] = ModuleType(_COMMAND_LINE)
    try:
        return import_module("cel")
    finally:
        del sys.modules[_COMMAND_LINE]


cel = _engine()
