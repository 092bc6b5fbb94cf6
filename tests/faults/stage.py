"""Makes the database of a cluster, its people, tools and agents, and prints who may do what as JSON.

python -m tests.faults.stage OUTSIDE_HOST_AND_PORT
"""

import json
import os
import sys

import django
from django.core.management import call_command

from tests.faults import toolbox

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")


def main(outside: str) -> dict[str, str]:
    """The tenant, and the keys of the program, of alice who asks and bob who decides."""
    django.setup()
    call_command("prepare", verbosity=0)
    from runs.operations.configuring import install_agent
    from tests.cast import new_cast
    from tools.operations import register_tool

    cast = new_cast()
    for definition in toolbox.tools(outside):
        register_tool(cast.carol.actor, definition)
    for agent in toolbox.agents():
        install_agent(cast.tenant.id, **agent)
    keys = {"service": cast.service.raw_key, "alice": cast.alice.raw_key, "bob": cast.bob.raw_key}
    return {"tenant": str(cast.tenant.id), **keys}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
