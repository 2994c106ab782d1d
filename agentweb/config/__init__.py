"""Wiring: settings, URLs, ASGI, Celery."""
