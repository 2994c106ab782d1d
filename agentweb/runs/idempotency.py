"""Requests that were answered already."""

from django.conf import settings
from django.db import models


class IdempotencyKey(models.Model):
    """A request that was already answered, so that sending it again changes nothing."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="idempotency_keys")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    answer = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_idempotency_key")]
