"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("agentweb.chat.urls")),
    path("api/v1/", include("agentweb.api.urls")),
    path("health/", include("agentweb.api.health_urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
]
