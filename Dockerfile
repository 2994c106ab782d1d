# One image for web, workers and preparation. Nothing is built or gathered when a container starts.
ARG PYTHON=3.11
FROM python:${PYTHON}-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    DJANGO_SETTINGS_MODULE=agentweb.config.settings \
    DATA_DIR=/data

RUN groupadd --system --gid 10001 agentweb \
    && useradd --system --uid 10001 --gid agentweb --no-create-home --home-dir /nonexistent agentweb \
    && install --directory --owner agentweb --group agentweb --mode 0700 /data

WORKDIR /app

# What we depend on changes less often than what we write.
COPY pyproject.toml constraints.txt README.md ./
COPY agentweb/__init__.py agentweb/
RUN pip install --constraint constraints.txt --editable '.[postgres]'

COPY manage.py ./
COPY agentweb agentweb
COPY templates templates
COPY static static
RUN python -m compileall -q agentweb manage.py

USER agentweb
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM

CMD ["python", "-m", "daphne", "-b", "0.0.0.0", "-p", "8000", "-v", "0", "--no-server-name", "agentweb.config.asgi:application"]
