"""What admins do that is more than setting a field."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from agentweb.registry import secrets
from agentweb.registry.models import ChatModel, Policy, Prompt, PromptVersion


def policy_changed(*, policy: Policy) -> int:
    """Give the policy its next version, because it or one of its rules has changed; returns that version.

    Approvals are bound to the version that asked, so what waits is asked again under the new one."""
    Policy.objects.filter(pk=policy.pk).update(version=F("version") + 1, updated_at=timezone.now())
    policy.refresh_from_db(fields=["version", "updated_at"])
    return policy.version


def write_prompt(*, prompt: Prompt, text: str, by: AbstractBaseUser | None = None) -> bool:
    """Give a template another text, as its next version; False where it says that already. Runs that have begun keep
    the text that they began with."""
    with transaction.atomic():
        held = Prompt.objects.select_for_update().get(pk=prompt.pk)
        if held.version and held.text == text:
            return False
        held.text, held.version = text, held.version + 1
        held.save(update_fields=["text", "version", "updated_at"])
        PromptVersion.objects.create(prompt=held, version=held.version, text=text, created_by_id=by.pk if by else None)
    prompt.text, prompt.version = held.text, held.version
    return True


def give_key(*, model: ChatModel, key: str) -> None:
    """Put the key (empty: none) into the model, encrypted, with its last characters for people. Saves nothing."""
    model.encrypted_key = secrets.encrypt(key)
    model.key_hint = secrets.hint(key)
