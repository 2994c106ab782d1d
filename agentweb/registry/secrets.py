"""Keys at rest: encrypted with the site's secret key, readable by the code that must send them and by nobody else."""

import base64
import hashlib
from collections import deque

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

PURPOSE = b"agentweb.registry.secrets:"
MOST_SEEN = 200
_seen: deque[str] = deque(maxlen=MOST_SEEN)


class SecretUnreadable(Exception):
    """The stored secret was encrypted with a secret key that the site no longer has."""


def seen() -> tuple[str, ...]:
    """The plain secrets that passed through this process lately: what its log must not say."""
    return tuple(_seen)


def encrypt(plain: str) -> str:
    note(plain)
    return _fernet().encrypt(plain.encode()).decode() if plain else ""


def hint(plain: str) -> str:
    """What may be shown of a key: its last four characters, and nothing of one that is too short to hide the rest."""
    return plain[-4:] if len(plain) >= 12 else ""


def decrypt(stored: str) -> str:
    """The plain secret. Raises SecretUnreadable."""
    if not stored:
        return ""
    try:
        plain = _fernet().decrypt(stored.encode()).decode()
    except (InvalidToken, UnicodeError) as error:
        raise SecretUnreadable(
            "A stored key cannot be read with this SECRET_KEY. Enter the key again, or add the old secret key to "
            "SECRET_KEY_FALLBACKS."
        ) from error
    note(plain)
    return plain


def note(plain: str) -> None:
    """Remember a plain secret that came another way, such as in a header."""
    if plain and plain not in _seen:
        _seen.append(plain)


def _fernet() -> MultiFernet:
    """New secrets use SECRET_KEY; the fallbacks can still be read, so the secret key can be changed."""
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(PURPOSE + secret.encode()).digest()))
