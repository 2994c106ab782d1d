"""Keys at rest: encrypted with the site's secret key, readable by the code that must send them and by nobody else."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

PURPOSE = b"agentweb.registry.secrets:"


class SecretUnreadable(Exception):
    """The stored secret was encrypted with a secret key that the site no longer has."""


def encrypt(plain: str) -> str:
    return _fernet().encrypt(plain.encode()).decode() if plain else ""


def decrypt(stored: str) -> str:
    """The plain secret. Raises SecretUnreadable."""
    if not stored:
        return ""
    try:
        return _fernet().decrypt(stored.encode()).decode()
    except InvalidToken as error:
        raise SecretUnreadable(
            "A stored key cannot be read with this SECRET_KEY. Enter the key again, or add the old secret key to "
            "SECRET_KEY_FALLBACKS."
        ) from error


def _fernet() -> MultiFernet:
    """New secrets use SECRET_KEY; the fallbacks can still be read, so the secret key can be changed."""
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(PURPOSE + secret.encode()).digest()))
