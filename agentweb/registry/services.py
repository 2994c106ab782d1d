"""What admins do that is more than setting a field."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from agentweb.policy import stored
from agentweb.registry import secrets
from agentweb.registry.models import ChatModel, Policy, PolicyVersion, Prompt, PromptVersion
from agentweb.schema import json_text
from agentweb.teams.models import User


@transaction.atomic
def policy_changed(*, policy: Policy, by: User | None = None) -> int:
    """Give the policy its next version, because it or one of its rules has changed; returns that version.

    Approvals are bound to the version that asked, so what waits is asked again under the new one."""
    Policy.objects.filter(pk=policy.pk).update(version=F("version") + 1, updated_at=timezone.now())
    policy.refresh_from_db(fields=["version", "updated_at"])
    enact(policy=policy, by=by)
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


@transaction.atomic
def enact(*, policy: Policy, by: User | None = None) -> PolicyVersion:
    """Put the policy's rules, as they stand in the rows, into force as its present version, and keep them."""
    found = policy.rules.select_related("agent", "team", "user", "by_group", "later_group")
    found = found.prefetch_related("people", "later_people")
    rows = found.order_by("position", "pk")
    rules = [stored.data(row.as_rule(policy.name, policy.version, number)) for number, row in enumerate(rows, 1)]
    digest = json_text.digest([policy.name, policy.version, rules])
    version = PolicyVersion.objects.create(
        policy=policy,
        name=policy.name,
        version=policy.version,
        enabled=policy.enabled,
        rules=json_text.canonical(rules),
        digest=digest,
        by=by,
    )
    Policy.objects.filter(pk=policy.pk).update(digest=digest)
    policy.digest = digest
    return version


def give_key(*, model: ChatModel, key: str) -> None:
    """Put the key (empty: none) into the model, encrypted, with its last characters for people. Saves nothing."""
    model.encrypted_key = secrets.encrypt(key)
    model.key_hint = secrets.hint(key)
