"""Telling a team's own programs of what waits: signed requests, tried again with growing pauses."""

import hashlib
import hmac
import json
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from agentweb.registry import secrets
from agentweb.runs import outbound
from agentweb.runs.models import Approval
from agentweb.runs.notice_models import Delivery, Webhook

SIGNATURE = "X-Agentweb-Signature"
PAUSES_S = (30, 60, 300, 1_800, 7_200, 21_600)  # after the first try, the second …; then it is given up
AT_ONCE = 50


def give_secret(*, webhook: Webhook, secret: str) -> None:
    """Put the secret into the webhook, encrypted, with its last characters for people. Saves nothing."""
    webhook.encrypted_secret, webhook.secret_hint = secrets.encrypt(secret), secrets.hint(secret)


def begin_here(webhook: Webhook) -> None:
    """What was asked before the webhook was made is not told. Saves nothing."""
    webhook.cursor = Approval.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def has_work() -> bool:
    new = _untold(OuterRef(OuterRef("pk")), OuterRef("team"), OuterRef("cursor"))
    return _due().exists() or Webhook.objects.filter(Exists(new), enabled=True).exists()


def work() -> int:
    """Find what is new for each webhook, and try what is due; the number of requests that were taken."""
    for webhook in Webhook.objects.filter(enabled=True):
        _find(webhook)
    due = _due().select_related("webhook", "approval__call", "approval__run__conversation__team").order_by("next_at")
    return sum(_try(delivery) for delivery in due[:AT_ONCE])


def signature(secret: str, at: int, body: bytes) -> str:
    """``t=SECONDS,v1=HMAC``: SHA-256 over seconds, a dot and the body, so that no old request can be sent anew."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def _due() -> QuerySet[Delivery]:
    return Delivery.objects.filter(next_at__lte=timezone.now(), webhook__enabled=True)


def _find(webhook: Webhook) -> None:
    new = _untold(webhook.pk, webhook.team_id, webhook.cursor).order_by("pk").values_list("pk", flat=True)
    now = timezone.now()
    rows = [Delivery(webhook=webhook, approval_id=pk, next_at=now) for pk in new[:AT_ONCE]]
    Delivery.objects.bulk_create(rows, ignore_conflicts=True)


def _untold(webhook: Any, team: Any, cursor: Any) -> QuerySet[Approval]:
    """What waits and was not told to a webhook yet. Row ids cannot say how far it was told: one transaction may take a
    lower id than another and commit after it."""
    told = Delivery.objects.filter(webhook=webhook, approval=OuterRef("pk"))
    waiting = Approval.objects.filter(run__conversation__team=team, status=Approval.Status.PENDING, pk__gt=cursor)
    return waiting.exclude(Exists(told))


def _try(delivery: Delivery) -> bool:
    """One request, by whichever worker takes the delivery first."""
    now = timezone.now()
    pause = PAUSES_S[delivery.attempts] if delivery.attempts < len(PAUSES_S) else None
    after = now + timedelta(seconds=pause) if pause else None
    mine = Delivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts, next_at=delivery.next_at)
    if not mine.update(attempts=F("attempts") + 1, next_at=after):
        return False
    if delivery.approval.status != Approval.Status.PENDING:
        Delivery.objects.filter(pk=delivery.pk).update(next_at=None)
        return False
    hook = Webhook.objects.filter(pk=delivery.webhook_id)
    try:
        _request(delivery)
    except (outbound.Refused, secrets.SecretUnreadable) as error:
        hook.update(last_error=str(error), last_error_at=now)
        return False
    Delivery.objects.filter(pk=delivery.pk).update(next_at=None)
    hook.update(last_sent_at=now)
    return True


def _request(delivery: Delivery) -> None:
    webhook, row = delivery.webhook, delivery.approval
    body = json.dumps(_said(delivery, row)).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "agentweb"}
    if secret := secrets.decrypt(webhook.encrypted_secret):
        headers[SIGNATURE] = signature(secret, int(time.time()), body)
    outbound.post(webhook.url, body, headers, allow_private=settings.WEBHOOKS_TO_PRIVATE_ADDRESSES)


def _said(delivery: Delivery, row: Approval) -> dict[str, object]:
    """What leaves the site: that something waits and where, and nothing of what was said."""
    conversation = row.run.conversation
    return {
        "kind": "approval.requested",
        "id": str(delivery.public_id),
        "approval": str(row.public_id),
        "conversation": str(conversation.public_id),
        "run": str(row.run.public_id),
        "team": conversation.team.name,
        "tool": row.call.name if row.call else None,
        "question": row.question or None,
        "risk": row.risk,
        "created_at": row.created_at.isoformat(),
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
        "url": f"{settings.SITE_URL}/c/{conversation.public_id}/" if settings.SITE_URL else None,
    }
