"""The ASGI application: static files outside Django's chain, pages and API inside it, and the websocket."""

import os
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.config.settings")

import django

django.setup(set_prefix=False)

from channels.auth import AuthMiddlewareStack  # noqa: E402  (after Django is set up)
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.staticfiles.finders import get_finders  # noqa: E402
from servestatic import ServeStaticASGI  # noqa: E402

from agentweb.chat.origins import OriginGate  # noqa: E402
from agentweb.chat.pacing import Paced  # noqa: E402
from agentweb.chat.routing import websocket_urlpatterns  # noqa: E402
from agentweb.config.handler import Handler  # noqa: E402


def static_folders() -> list[Path]:
    """Every folder that Django's static file finders know."""
    folders = []
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            folders.append(Path(storage.location))
    return folders


http_application = ServeStaticASGI(Handler())
for folder in static_folders():
    http_application.add_files(str(folder), prefix=settings.STATIC_URL)

application = ProtocolTypeRouter(
    {
        "http": Paced(http_application),
        "websocket": Paced(OriginGate(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))),
    }
)
