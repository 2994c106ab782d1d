"""Health at the root of the site."""

from django.urls import path

from agentweb.api import health

urlpatterns = [
    path("live", health.live, name="health_live"),
    path("ready", health.ready, name="health_ready"),
]
