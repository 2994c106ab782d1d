"""Every address of the site."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

admin.autodiscover()  # here and not as every process starts: workers and commands have no use for it
# Who signs in to the admin does it on the site's own page, where wrong passwords are counted.
admin.site.login = secure_admin_login(admin.site.login)

urlpatterns = [
    path("", include("agentweb.chat.urls")),
    path("api/v1/", include("agentweb.api.urls")),
    path("health/", include("agentweb.api.health_urls")),
    path("audit/", include("agentweb.audit.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
]
