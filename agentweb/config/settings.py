"""Settings, read from the environment and from DATA_DIR. A wrong value stops the start and is named."""

import json
import os
import secrets
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from agentweb.config import logs
from agentweb.launch import rules
from agentweb.toolbox import addresses

BASE_DIR = Path(__file__).resolve().parent.parent.parent
NINJA = Path(getattr(find_spec("ninja"), "origin", "")).parent  # no app: every process would load it and pydantic
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env", overwrite=False)

LAUNCHERS_OWN = ("PORT", "HOST", "WORKERS")
if wrong := rules.first_broken({name: text for name, text in os.environ.items() if text and name not in LAUNCHERS_OWN}):
    raise ImproperlyConfigured(wrong)


def read(variable: str, kind, default, must: str):
    """One variable through django-environ; a value of the wrong form names the variable and what it must be."""
    try:
        return kind(variable, default=default)
    except (ValueError, ImproperlyConfigured) as error:
        raise ImproperlyConfigured(f"{variable} must be {must}; it is {env.str(variable, default='')!r}.") from error


def positive(variable: str, default: float) -> float:
    value = read(variable, env.float, default, "a number of seconds above 0")
    if value <= 0:
        raise ImproperlyConfigured(f"{variable} must be above 0; it is {value:g}.")
    return value


def data_dir() -> Path:
    path = Path(env.str("DATA_DIR", default="") or BASE_DIR / "data").resolve()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"DATA_DIR ({path}) cannot be created: {error.strerror}.") from error
    return path


def secret_key() -> str:
    """SECRET_KEY, or a key made once and kept readable by its owner only."""
    if given := env.str("SECRET_KEY", default=""):
        return given
    path = DATA_DIR / "secret_key"
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text().strip()


def redis_url() -> str:
    """REDIS_URL, or the embedded server that the launcher noted down; empty when neither is there."""
    if given := env.str("REDIS_URL", default=""):
        if urlsplit(given).scheme not in ("redis", "rediss", "unix"):
            raise ImproperlyConfigured("REDIS_URL must begin with redis://, rediss:// or unix://.")
        return given
    try:
        return json.loads((DATA_DIR / "runtime.json").read_text()).get("redis_url", "")
    except (OSError, ValueError, AttributeError):
        return ""


def database() -> dict:
    """DATABASE_URL, or SQLite in DATA_DIR, set up for several writing processes."""
    url = env.str("DATABASE_URL", default="") or f"sqlite:///{DATA_DIR / 'agentweb.sqlite3'}"
    try:
        config = env.db_url_config(url)
    except (ImproperlyConfigured, ValueError, KeyError) as error:
        raise ImproperlyConfigured("DATABASE_URL must look like postgresql://USER:PASSWORD@HOST/NAME.") from error
    if "sqlite" in config["ENGINE"]:
        config["ENGINE"] = "agentweb.config.sqlite"
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;",
        }
    elif "postgresql" not in config["ENGINE"]:
        raise ImproperlyConfigured("DATABASE_URL must name a postgresql:// or sqlite:// database.")
    # Each request of an ASGI server has a thread of its own, whose connection must not outlive it.
    return config | {"CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": 0}


DATA_DIR = data_dir()
SECRET_KEY = secret_key()
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
DEBUG = read("DEBUG", env.bool, False, "true or false")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
for _origin in CSRF_TRUSTED_ORIGINS:
    if urlsplit(_origin).scheme not in ("http", "https") or not urlsplit(_origin).netloc:
        raise ImproperlyConfigured(
            f"CSRF_TRUSTED_ORIGINS must list origins like https://chat.example.org: {_origin!r}."
        )
BEHIND_TLS = any(origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS)

INSTALLED_APPS = [
    "agentweb.ui",
    "django.contrib.admin.apps.SimpleAdminConfig",  # the pages of the admin are found with the addresses
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "channels",
    "csp",
    "django_htmx",
    "agentweb.teams",
    "agentweb.registry",
    "agentweb.runs",
    "agentweb.worker",
    "agentweb.chat",
    "agentweb.api",
    "agentweb.audit",
]

MIDDLEWARE = [
    "agentweb.config.asking.request_middleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "agentweb.api.problems.problem_middleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "agentweb.config.urls"
ASGI_APPLICATION = "agentweb.config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates", NINJA / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = redis_url()
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # redis-py 8 drops idle connections after 5 s unless told not to.
        "CONFIG": {"hosts": [{"address": REDIS_URL or "redis://127.0.0.1:6379/0", "socket_timeout": None}]},
    },
}

CELERY_APP = "agentweb.config.celery.app"

AUTH_USER_MODEL = "teams.User"
AUTHENTICATION_BACKENDS = [
    "agentweb.teams.sign_in.Backend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "agentweb.chat.accounts.ClosedAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_RATE_LIMITS = {"login": "60/m/ip", "login_failed": "10/m/ip,5/5m/key"}

SESSION_ENGINE = "agentweb.teams.sign_in"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^health/"]  # asked from inside, where there is no TLS
    SECURE_HSTS_SECONDS = read("HSTS_SECONDS", env.int, 2_592_000, "a whole number of seconds")
    # Speaking for other names of the domain, and for good, is up to whoever owns the domain.
    SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
    # Who tries passwords is told apart by the address that the nearest proxy saw.
    ALLAUTH_TRUSTED_PROXY_COUNT = read("TRUSTED_PROXIES", env.int, 1, "a whole number")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}

CACHES = {
    "default": {"BACKEND": "agentweb.config.cache.SteadyCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "agentweb" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static", NINJA / "static"]
WORKSPACES_DIR = DATA_DIR / "workspaces"
DATA_UPLOAD_MAX_MEMORY_SIZE = 6 * 1024 * 1024

# Mail and requests to others: how they leave, how the site is named in them, and how long something waits before.
vars().update(environ.Env.email_url_config(env.str("EMAIL_URL", default="") or "consolemail://"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="") or "agentweb@localhost"
SITE_URL = env.str("SITE_URL", default="").rstrip("/")
NOTICE_MINUTES = positive("NOTICE_MINUTES", 5)
WEBHOOKS_TO_PRIVATE_ADDRESSES = env.bool("WEBHOOKS_TO_PRIVATE_ADDRESSES", default=False)

# How long a silent worker keeps its runs, how often it says that it lives, how often lost runs are looked for.
LEASE_SECONDS = positive("LEASE_SECONDS", 30)
BEAT_SECONDS = positive("BEAT_SECONDS", LEASE_SECONDS / 4)
if BEAT_SECONDS > LEASE_SECONDS / 2:
    raise ImproperlyConfigured(
        "BEAT_SECONDS must be at most half of LEASE_SECONDS, else living workers lose their runs."
    )
SWEEP_SECONDS = positive("SWEEP_SECONDS", 5)
MAX_ATTEMPTS = read("MAX_ATTEMPTS", env.int, 5, "a whole number")  # claims without progress before a run is given up
WORKER_SLOTS = read("WORKER_SLOTS", env.int, 64, "a whole number")
DRAIN_SECONDS = positive("DRAIN_SECONDS", 10)
FLUSH_SECONDS = positive("FLUSH_SECONDS", 0.08)

# Dotted modules with tools of your own, beside the built-in ones.
TOOLBOX_MODULES = env.list("TOOLBOX_MODULES", default=[])

# Servers inside that tools may reach over HTTP: names and networks, each perhaps with a port. All others are refused.
INNER_SERVERS = env.list("INNER_SERVERS", default=[])
try:
    addresses.Allowed.read(INNER_SERVERS)
except ValueError as error:
    raise ImproperlyConfigured(
        f"INNER_SERVERS must be names and networks like wiki.inner, 10.0.5.0/24 or 10.0.5.7:8000, not {error}."
    ) from error

# Where agents search the web, and to which domains they may write mails ("*": to all).
SEARXNG_URL = env.str("SEARXNG_URL", default="")
DUCKDUCKGO_SEARCH = read("DUCKDUCKGO_SEARCH", env.bool, False, "true or false")
MAIL_DOMAINS = env.list("MAIL_DOMAINS", default=[])
if SEARXNG_URL and (urlsplit(SEARXNG_URL).scheme not in ("http", "https") or not urlsplit(SEARXNG_URL).hostname):
    raise ImproperlyConfigured("SEARXNG_URL must be an address that begins with http:// or https://.")

# Where the admin looks for model servers on this machine, at a click: what listens there, and the port.
LOCAL_MODEL_SERVERS = [("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)]

# Modules whose functions an admin may name as goal checks of an agent.
GOAL_MODULES = env.list("GOAL_MODULES", default=[])

# Dotted paths of the extensions of the loop, the built-in ones included: one that is left out is switched off.
AGENTWEB_SEAMS = env.list(
    "AGENTWEB_SEAMS", default=["agentweb.engine.redaction.Redaction", "agentweb.engine.recovering.Recovery"]
)

OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_MODEL = env.str("OPENAI_MODEL", default="")
if OPENAI_BASE_URL and urlsplit(OPENAI_BASE_URL).scheme not in ("http", "https"):
    raise ImproperlyConfigured("OPENAI_BASE_URL must begin with http:// or https://.")

LOGGING_CONFIG = "agentweb.config.logs.configure"
LOGGING = logs.logging_settings(
    (env.str("LOG_LEVEL", default="") or "info").upper(), env.str("LOG_FORMAT", default="").lower()
)
