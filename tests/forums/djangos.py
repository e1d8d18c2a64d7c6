"""Common settings of the Django forums: one SQLite file, caches in memory, Chinese, no debugging."""

from __future__ import annotations

from pathlib import Path


def common(database: Path, root: str, caches: list[str], processors: list[str]) -> dict:
    """For `settings.configure`: `root` names the module with the URLs, `processors` are added to Django's."""
    django = ["django.template.context_processors.i18n", "django.template.context_processors.static",
              "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
              "django.contrib.messages.context_processors.messages"]
    return {
        "DEBUG": False,
        "SECRET_KEY": "a forum on loopback",
        "ALLOWED_HOSTS": ["127.0.0.1"],
        "ROOT_URLCONF": root,
        "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database, "OPTIONS": {"timeout": 30}}},
        "DEFAULT_AUTO_FIELD": "django.db.models.AutoField",
        "TEMPLATES": [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
                       "OPTIONS": {"context_processors": django + processors}}],
        "CACHES": {name: {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": name}
                   for name in caches},
        "HAYSTACK_CONNECTIONS": {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}},
        "LANGUAGE_CODE": "zh-hans",
        "TIME_ZONE": "Asia/Shanghai",
        "USE_TZ": True,
        "STATIC_URL": "/static/",
        "MEDIA_ROOT": database.parent / "media",
    }


MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]

CONTRIB = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages",
           "django.contrib.humanize", "django.contrib.staticfiles"]


def nth(query, place: int):
    return query.order_by("pk")[place]
