"""The data folder: private to its owner, with a secret key that is made once."""

import contextlib
import json
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

from agentweb.launch.refusal import MISCONFIGURED, Refusal
from agentweb.launch.rules import SECRET_KEY_LENGTH

_PRIVATE_FOLDER = 0o700
_SECRET_KEY_FILE = "secret_key"


def prepare(path: Path) -> None:
    """Make the folder, mode 0700. One that others already use for other things keeps its mode."""
    try:
        path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        if (path / _SECRET_KEY_FILE).exists() or not any(path.iterdir()):
            path.chmod(_PRIVATE_FOLDER)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise Refusal(f"DATA_DIR ({path}) cannot be used: {error.strerror}.", MISCONFIGURED) from error


def secret_key(data_dir: Path) -> str:
    """The secret key of this data folder, made at the first call; two first calls at once get the same one."""
    path = data_dir / _SECRET_KEY_FILE
    if not path.exists():
        draft = data_dir / f".{_SECRET_KEY_FILE}.{os.getpid()}"
        write_private(draft, secrets.token_urlsafe(50) + "\n")
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    key = path.read_text().strip()
    if len(key) < SECRET_KEY_LENGTH:
        raise Refusal(f"{path} holds no usable secret key: at least {SECRET_KEY_LENGTH} characters are needed.")
    return key


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; only its owner can read it (mode 0600)."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)


def write_private_json(path: Path, values: Mapping[str, object]) -> None:
    """As write_private, for a JSON object."""
    write_private(path, json.dumps(values, indent=2) + "\n")
