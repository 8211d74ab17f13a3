# `make demo` and `make test` are all a newcomer needs; both make their own environment in .venv.
.DEFAULT_GOAL := help
.PHONY: help demo test check test-all bench soak clean

# The first Python that is new enough; say PYTHON=… to choose another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin

help:
	@echo "make demo          try it in a browser (AUTO=1: scripted people, prints the story and ends)"
	@echo "make test          the tests that need no service and no browser"
	@echo "make check         lint, types, floors"
	@echo "make test-all      everything, PostgreSQL and the built wheel included"
	@echo "make bench         measures, as ratios against a baseline of the same run"

demo: .venv/ready
	@$(BIN)/hitl demo $(if $(AUTO),--auto)

test: .venv/dev
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

check: .venv/dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache | tail -n 5
	@$(BIN)/python -m pytest tests/test_architecture.py

test-all: test
	@HITL_EXAMPLES=long $(BIN)/python -m pytest -n auto --dist worksteal -m slow tests
	@HITL_EXAMPLES=long $(BIN)/python -m pytest -n auto --dist worksteal tests/core

bench: .venv/dev
	@$(BIN)/python -m benchmarks

soak: .venv/dev
	@HITL_EXAMPLES=soak $(BIN)/python -m pytest tests/core
	@for i in 1 2 3 4 5 6 7 8 9 10; do $(BIN)/python -m pytest -m slow tests/flows || exit 1; done

.venv/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed, and none was found (python3, python3.11 ... python3.13)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv module: install it (on Debian: apt-get install python3-venv)"; exit 1; }
	@test -x $(BIN)/python || { echo "making an environment in .venv, once"; $(PYTHON) -m venv .venv; }
	@$(BIN)/python -m pip install -q --disable-pip-version-check -U 'pip>=25.1'
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

.venv/dev: .venv/ready
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[postgres]' --group dev
	@touch $@

clean:
	rm -rf .venv dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
