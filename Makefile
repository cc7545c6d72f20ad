# make demo | test | lint | format | db | venv | clean
# Needs python3 (3.11 or newer), make and, for the database, a Debian machine (others: see README).
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# The packages of the tests and linters, which the demo does without.
DEV := .venv/.installed-dev

# The tests have a server of their own, which forgets what a crash would lose, and share the
# unpacked programs with the user's server.
TEST_ENV := RAGPG_DB_HOME=$(CURDIR)/.ragpg/test RAGPG_DB_THROWAWAY=1 \
            RAGPG_DB_PROGRAMS=$(CURDIR)/.ragpg/programs
# Files of tests run side by side, each on databases of its own. PYTEST_ARGS= runs one after the other.
PYTEST_ARGS ?= -n auto --maxprocesses 4 --dist loadfile

.PHONY: venv demo test lint format db clean
.DEFAULT_GOAL := venv

venv: $(STAMP)

$(STAMP): pyproject.toml tools/bootstrap.sh
	PYTHON="$(PYTHON)" tools/bootstrap.sh all
	@touch $@

$(DEV): pyproject.toml tools/bootstrap.sh
	PYTHON="$(PYTHON)" tools/bootstrap.sh all,dev
	@touch $(STAMP) $@

demo: $(STAMP)
	$(BIN)/python -m ragpg.demo

test: lint
	$(TEST_ENV) $(BIN)/pytest $(PYTEST_ARGS)

lint: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

db: $(STAMP)
	$(BIN)/python -m ragpg.cli.db up

# The database in .ragpg stays: `ragpg db destroy --yes` deletes it.
clean:
	-[ ! -x $(BIN)/python ] || for suite in forky trixie; do \
	    $(TEST_ENV) $(BIN)/python -m ragpg.cli.db destroy --yes --suite $$suite; done
	rm -rf .venv .ragpg/test build dist .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
