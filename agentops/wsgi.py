"""The WSGI door of `web`: pages and REST, without websockets."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")
application = get_wsgi_application()

from agentops.health import refuse_unsafe_start  # noqa: E402 - Django must be set up first

refuse_unsafe_start()
