# One command each; everything runs through uv, which `make` finds or installs beside the code.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
TOOLS := .agentops-tools
UV := $(shell command -v uv 2>/dev/null || echo $(TOOLS)/bin/uv)
PYTHON := $(shell command -v python3 2>/dev/null || command -v python 2>/dev/null)
RUN := $(UV) run --no-sync
# mypy's and djade's view of the settings; nothing is served with it.
LINT := DEBUG=true AGENTOPS_DEMO=true $(RUN)
# Containers often forbid bytecode; without it every process of ours compiles Django and all the rest again.
unexport PYTHONDONTWRITEBYTECODE
# Three lanes, whatever the machine has: tests/lanes.py.
PYTEST := $(RUN) pytest -n 3

.PHONY: help up test bench faults check lint-imports format lint types migrations deploy-check sync sync-dev browser redis sandbox suites conformance clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

up: sync ## start everything; Ctrl-C stops, data is kept
	@exec $(RUN) python manage.py up

test: sync-dev browser redis sandbox suites ## the whole test suite, browser tests included
	@$(PYTEST)

conformance: sync-dev suites ## the official MCP suite, both revisions, against our server code
	@$(RUN) pytest -q tests/conformance

MINUTES ?= 10

faults: sync-dev redis ## faults injected into real processes for MINUTES=10; what was lost and what happened twice
	@$(RUN) python -m tests.faults --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

bench: sync-dev ## how quick and how big it is, beside other engines; a table in benchmarks/results
	@$(RUN) python -m benchmarks

check: sync-dev ## what CI runs
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types lint format lint-imports deploy-check
	@$(MAKE) --no-print-directory test

format: sync-dev
	@$(RUN) ruff format --check .
	@git ls-files -z 'templates/*.html' 'demo/*.html' | xargs -0 -r $(RUN) djade --check --target-version 6.0

lint: sync-dev
	@$(RUN) ruff check .

types: sync-dev
	@$(LINT) mypy .

lint-imports: sync-dev ## the import order and who may call what
	@$(RUN) lint-imports

migrations: sync-dev
	@$(RUN) pytest -q tests/embedded/test_migrations.py

deploy-check: sync-dev
	@SECRET_KEY=$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(60))') AGENTOPS_ALLOWED_HOSTS=agentops.example \
	  $(RUN) python manage.py check --deploy --fail-level WARNING

# `.python-version` asks for 3.13; where neither uv nor this machine has it, any Python from 3.12 on will do.
SYNC := .ci/sync $(UV)

sync: $(UV)
	@$(SYNC) --no-dev --inexact

sync-dev: $(UV)
	@$(SYNC)

$(TOOLS)/bin/uv:
	@$(PYTHON) -m venv $(TOOLS) 2>/dev/null || { \
	  $(PYTHON) -m pip install --quiet --target $(TOOLS)/site uv && mkdir -p $(TOOLS)/bin && ln -sf ../site/bin/uv $(TOOLS)/bin/uv; } || { \
	  echo "Python's venv is missing: install it (Debian: apt install python3-venv), or install uv, then run make again." >&2; exit 2; }
	@test -x $(TOOLS)/bin/uv || $(TOOLS)/bin/python -m pip install --quiet uv

browser: sync-dev
	@.ci/browser

redis:
	@.ci/redis

sandbox:
	@.ci/sandbox

suites:
	@.ci/suites $(TOOLS)/mcp

clean: ## remove what was built; the data in .agentops stays
	@rm -rf .venv $(TOOLS) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache htmlcov
