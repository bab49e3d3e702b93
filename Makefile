# make demo   a first run, from nothing, in a few minutes
# make test   everything that the checks run
# make docs   the pages of docs/ as a site, in .site
# make clean  forget the environment

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test lint docs clean

# The first Python 3.11 or newer that starts; some on the PATH may be shims of versions that are not there.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
BIN := .venv/bin

help:
	@sed -n 's/^# make/make/p' Makefile

demo: .venv/installed
	$(BIN)/coview demo $(ARGS)

test: .venv/tested lint docs
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/basedpyright

docs: .venv/tested
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "coview needs Python 3.11 or newer: install one, or name it with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv .venv || { rm -rf .venv; echo "no venv module: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }

.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --disable-pip-version-check -e .
	@touch $@

.venv/tested: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --disable-pip-version-check -e '.[test]'
	@touch .venv/installed $@

clean:
	rm -rf .venv
