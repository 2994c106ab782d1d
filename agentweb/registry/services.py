"""What admins do that is more than setting a field."""

from django.db.models import F
from django.utils import timezone

from agentweb.registry import secrets
from agentweb.registry.models import ChatModel, Policy


def policy_changed(*, policy: Policy) -> int:
    """Give the policy its next version, because it or one of its rules has changed; returns that version.

    Approvals are bound to the version that asked, so what waits is asked again under the new one."""
    Policy.objects.filter(pk=policy.pk).update(version=F("version") + 1, updated_at=timezone.now())
    policy.refresh_from_db(fields=["version", "updated_at"])
    return policy.version


def give_key(*, model: ChatModel, key: str) -> None:
    """Put the key (empty: none) into the model, encrypted, with its last characters for people. Saves nothing."""
    model.encrypted_key = secrets.encrypt(key)
    model.key_hint = secrets.hint(key)
