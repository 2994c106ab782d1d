"""The browser for the tests: found, or installed from the system's packages."""

import os
import shutil
import subprocess
from pathlib import Path

_NAMES = (
    "chromium-headless-shell",  # the same engine without the windows around it, which takes a quarter less work
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
)
_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
_CHINESE = "a font with Chinese characters"

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
"""No request of the browser's own or to another machine, and no need for privileges that containers lack."""


class NoBrowser(Exception):
    """There is none and none could be installed; says why."""


def find() -> str | None:
    """The path of a browser that runs: CHROMIUM, else one of the usual names."""
    named = os.environ.get("CHROMIUM")
    candidates = [named] if named else [*map(shutil.which, _NAMES), str(_MAC) if _MAC.exists() else None]
    return next((path for path in candidates if path and _runs(path)), None)


def _runs(path: str) -> bool:
    """Some systems have only a stub under the name, which tells to install something else."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def find_or_install() -> str:
    """As `find`; installs one where there is none. Raises NoBrowser."""
    found = find()
    if found:
        return found
    print("Chromium is missing: installing it from the system's packages", flush=True)
    _install()
    found = find()
    if found is None:
        raise NoBrowser("Chromium was installed and still does not run; set CHROMIUM to a browser that does.")
    return found


def _install() -> None:
    rights = _rights()
    if shutil.which("apt-get"):
        _try([*rights, "apt-get", "update", "-qq"])
        install = [*rights, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
        _try([*install, "--no-install-recommends", "chromium-headless-shell"])  # not every release has it
        if find() is None:
            _run([*install, "--no-install-recommends", "chromium"])
        _try([*install, "--no-install-recommends", "fonts-noto-cjk"], missing=_CHINESE)
    elif shutil.which("dnf"):
        _run([*rights, "dnf", "install", "-y", "-q", "chromium"])
        _try([*rights, "dnf", "install", "-y", "-q", "google-noto-sans-cjk-fonts"], missing=_CHINESE)
    elif shutil.which("apk"):
        _run([*rights, "apk", "add", "--quiet", "chromium"])
        _try([*rights, "apk", "add", "--quiet", "font-noto-cjk"], missing=_CHINESE)
    else:
        raise NoBrowser("There is no apt-get, dnf or apk to install Chromium with; install it, or set CHROMIUM.")


def _rights() -> list[str]:
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    ):
        return ["sudo", "-n"]
    raise NoBrowser("Chromium is missing and this account may not install packages; install it, or set CHROMIUM.")


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    if ended.returncode:
        raise NoBrowser(f"Chromium could not be installed: `{' '.join(command)}` ended with {ended.returncode}.")


def _try(command: list[str], missing: str = "") -> None:
    """For what the tests can do without."""
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if ended.returncode and missing:
        print(f"Not installed: {missing}. Screenshots may show boxes.", flush=True)
