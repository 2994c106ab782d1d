"""Is the process alive, and can it do its work? No sign-in, no detail that helps a stranger."""

from datetime import timedelta

from django import db
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agentweb.runs import live as live_stream
from agentweb.runs.models import WorkerProcess


@require_safe
@never_cache
def live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """200 when database, broker and a worker are there; else 503 with the names of what is missing."""
    needed = (("database", _database), ("redis", live_stream.answers), ("worker", _worker))
    missing = [name for name, there in needed if not there()]
    return JsonResponse(
        {"status": "unavailable" if missing else "ok", "missing": missing}, status=503 if missing else 200
    )


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except db.Error:
        return False
    return True


def _worker() -> bool:
    try:
        fresh = Now() - timedelta(seconds=settings.LEASE_SECONDS)
        return WorkerProcess.objects.filter(beat_at__gt=fresh).exists()
    except db.Error:
        return False
