"""What Django can tell about the site without running it."""

from importlib import import_module

import pytest
from django.conf import settings
from django.contrib import admin
from django.core.checks import run_checks


@pytest.mark.django_db
def test_django_finds_nothing_wrong_with_models_addresses_and_admin():
    import_module(settings.ROOT_URLCONF)  # which finds the pages of the admin
    assert len(admin.site._registry) > 5
    assert [message for message in run_checks() if message.is_serious()] == []
