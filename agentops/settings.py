"""Django settings; everything that differs between hosts comes from agentops.env."""

from pathlib import Path
from typing import Any

from django.utils.csp import CSP
from kombu import Queue

from agentops.databases import broker_options, channel_layer, connection_settings
from agentops.env import env
from agentops.logs import logging_settings
from agentops.oauth_settings import oauth_settings


def _pulse(queue: str) -> dict[str, Any]:
    return {
        "task": "agentops.pulse",
        "schedule": 5.0,
        "args": [queue],
        "options": {"queue": queue, "expires": 10},
    }


BASE_DIR = Path(__file__).resolve().parent.parent
ENV = env()

SECRET_KEY = ENV.secret_key
DEBUG = ENV.debug
ALLOWED_HOSTS = [h for h in ENV.agentops_allowed_hosts.split(",") if h] or [
    "127.0.0.1",
    "localhost",
    "[::1]",
    ENV.agentops_host,
]
ROOT_URLCONF = "agentops.urls"
ASGI_APPLICATION = "agentops.asgi.application"
WSGI_APPLICATION = "agentops.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "tenancy.User"

INSTALLED_APPS = [
    "agentops.tenancy",
    "tools",
    "approvals",
    "runs",
    "agentops.api",
    "agentops.live",
    "agentops.web",
    "agentops.embedded",
    "agentops.tenancy.admin_config.TenantAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "oauth2_provider",
    "agentops.oauth",
    "channels",
    "channels_postgres",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
if ENV.agentops_demo:
    INSTALLED_APPS.append("demo")

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "agentops.web.static_files.StaticFilesMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agentops.web.shell.shell",
            ],
        },
    },
]

DATABASES = connection_settings(ENV)

# Work: Redis where REDIS_URL names one, else a queue in the product's own database.
CELERY_BROKER_URL = ENV.redis_url or "pgmq://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = broker_options(ENV.redis_url, DATABASES["default"], ENV.agentops_visibility_seconds)
CELERY_BROKER_POOL_LIMIT = 4
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_QUEUES = [Queue(name) for name in ("control", "sandbox")]
CELERY_TASK_DEFAULT_QUEUE = "control"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TIMEZONE = "UTC"
CELERY_AGENTOPS_BEAT = ENV.agentops_beat
CELERY_BEAT_SCHEDULER = "agentops.beat:Scheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "runs.sweep", "schedule": 2.0, "options": {"queue": "control", "expires": 10}},
    "checkpoint": {"task": "runs.checkpoint", "schedule": 300.0, "options": {"queue": "control", "expires": 600}},
    "oauth-tidy": {"task": "oauth.tidy", "schedule": 3600.0, "options": {"queue": "control", "expires": 3600}},
    "pulse-control": _pulse("control"),
    "pulse-sandbox": _pulse("sandbox"),
}

CHANNEL_LAYERS = {"default": channel_layer(ENV.redis_url, DATABASES["default"])}

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
# Hard on memory, and a sign-in costs a third of what PBKDF2 takes; an older hash is made anew when its owner signs in.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "agentops.web.adapter.ClosedSignup"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
OAUTH2_PROVIDER = oauth_settings(registration=ENV.agentops_oauth_registration)
# RFC 8252 wants http for loopback redirects, and only those are accepted.
SILENCED_SYSTEM_CHECKS = ["oauth2_provider.W008"]

SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "connect-src": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "object-src": [CSP.NONE],
}

# HTTPS is on unless the operator says otherwise; `make up` does, because it serves a loopback address.
SECURE_SSL_REDIRECT = ENV.agentops_https
SECURE_HSTS_SECONDS = 31_536_000 if ENV.agentops_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = ENV.agentops_https
SECURE_HSTS_PRELOAD = ENV.agentops_https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.agentops_trust_proxy else None
SESSION_COOKIE_SECURE = ENV.agentops_https
CSRF_COOKIE_SECURE = ENV.agentops_https
CSRF_TRUSTED_ORIGINS = [origin for origin in ENV.agentops_trusted_origins.split(",") if origin]
# Ports do not separate cookies, so two installations on one host would sign each other out.
SESSION_COOKIE_NAME = "agentops_session"
CSRF_COOKIE_NAME = "agentops_csrf"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Bodies up to 4 MiB are the product's contract; the parsers say so themselves.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

STATIC_URL = "/static/"
STATIC_ROOT = ENV.agentops_static_root or ENV.agentops_home / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Where nothing was collected (`make up`), files come straight from their apps.
WHITENOISE_USE_FINDERS = ENV.agentops_static_root is None

LOGGING = logging_settings(ENV.agentops_log, plain=ENV.agentops_log_plain)

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
FORMAT_MODULE_PATH = "agentops.formats"

AGENTOPS_METRICS_TOKEN = ENV.agentops_metrics_token
AGENTOPS_SIGNING_KEY = ENV.agentops_signing_key
AGENTOPS_WORKFLOW_STORE = ENV.agentops_workflow_store
AGENTOPS_REDIS_URL = ENV.redis_url
AGENTOPS_ALLOWED_PRIVATE_HOSTS = ENV.agentops_allowed_private_hosts

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
}
SPECTACULAR_SETTINGS = {
    "TITLE": "AgentOps",
    "DESCRIPTION": "Start, watch and cancel runs, propose calls, decide approvals, register tools.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_PERMISSIONS": [],
    "SERVE_AUTHENTICATION": [],
    "DISABLE_ERRORS_AND_WARNINGS": True,
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "APPEND_COMPONENTS": {"securitySchemes": {"ApiKey": {"type": "http", "scheme": "bearer"}}},
    "SECURITY": [{"ApiKey": []}],
}
