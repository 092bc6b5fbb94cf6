# One image for migrate, web, live, worker and beat.
FROM python:3.13-slim AS build
COPY --from=ghcr.io/astral-sh/uv:0.13.9 /uv /usr/local/bin/uv
WORKDIR /app
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
COPY pyproject.toml uv.lock .python-version ./
RUN uv sync --frozen --no-dev
COPY . .
ENV PATH=/app/.venv/bin:$PATH AGENTOPS_STATIC_ROOT=/app/collected
RUN DEBUG=true python manage.py collectstatic --noinput

FROM python:3.13-slim
RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
RUN useradd --system --create-home --home-dir /var/lib/agentops agentops
WORKDIR /app
COPY --from=build /app /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 \
    AGENTOPS_STATIC_ROOT=/app/collected AGENTOPS_HOME=/var/lib/agentops
USER agentops
EXPOSE 8000
