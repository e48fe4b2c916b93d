# gaussdyn: `make help` lists the targets. Everything is installed into .venv, nothing outside.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
BIN := .venv/bin
# Byte code is made when a module is first imported, which a good half of what is installed never is.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile -q
PYTEST := $(BIN)/pytest -n auto --maxprocesses 8 --dist loadgroup
RUN := $(BIN)/gaussdyn
OUT := demo-output
LEAGUE := league-output
export OMP_NUM_THREADS := 1
# Byte code is kept, beside what is installed: a process that makes it anew takes thrice as long to begin.
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/bytecode
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test check kernels test-fast test-slow test-all bench league docs clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "gaussdyn needs Python 3.11 or newer: install it, or call make PYTHON=/path/to/python3"; exit 1; }
	@echo "creating .venv with $(PYTHON) ..."
	@$(PYTHON) -m venv .venv 2>/dev/null || { rm -rf .venv; $(PYTHON) -m venv --without-pip .venv \
	  && $(PYTHON) -m pip --python .venv/bin/python install --disable-pip-version-check -q pip; } \
	  || { rm -rf .venv; echo "cannot create .venv with $(PYTHON): it needs the modules venv and pip"; exit 1; }

.venv/.report: pyproject.toml | $(BIN)/python
	@echo "installing gaussdyn with the report extra (a few minutes, once) ..."
	@$(PIP) -e '.[report]'
	@touch $@

.venv/.dev: pyproject.toml | $(BIN)/python
	@echo "installing gaussdyn with the development tools (a few minutes, once) ..."
	@$(PIP) -e '.[dev]'
	@touch $@ .venv/.report

demo: .venv/.report  ## Run three scenes and solve a recorded contact problem; results in demo-output/
	@mkdir -p $(OUT)
	@$(BIN)/python examples/demo.py $(OUT)

test: .venv/.dev  ## Lint, types, layers, and the fast tests (minutes)
	@$(MAKE) --no-print-directory -j2 check test-fast

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

kernels: .venv/.dev
	$(RUN) warmup

test-fast: kernels
	$(PYTEST)

test-slow: kernels  ## The longer tests (a quarter of an hour)
	$(PYTEST) -m 'slow and not nightly'

test-all: kernels  ## Every test, those for the night too, and random laws at full length (an hour or more)
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m ''

.venv/.docs: pyproject.toml | $(BIN)/python
	@echo "installing gaussdyn with what builds its pages (a few minutes, once) ..."
	@$(PIP) -e '.[docs]'
	@touch $@

docs: .venv/.docs .venv/.report  ## Build the pages into site/, with pictures of all scenes, links checked
	$(RUN) warmup
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

league: .venv/.report  ## Other engines beside this one on exact scenes (a quarter of an hour); results in league-output/
	@echo "installing the other engines; one that does not install here is left out ..."
	@for peer in mujoco drake pybullet dartpy pymunk; do $(PIP) $$peer || echo "$$peer: does not install here"; done
	@mkdir -p $(LEAGUE)
	$(RUN) bench league --out $(LEAGUE)

bench: .venv/.dev  ## Benchmarks: ratios against peers on the same work
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean:  ## Remove what was built (not .venv)
	rm -rf $(OUT) $(LEAGUE) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
