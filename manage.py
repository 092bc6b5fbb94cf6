#!/usr/bin/env python
"""Django's command line; `up` comes before Django, whose settings depend on its options."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")
    if sys.argv[1:2] == ["up"]:
        from agentops.embedded.up import main

        sys.exit(main(sys.argv[2:]))

    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
