# `make serve` hosts a table, `make test` runs the tests; `make help` lists the rest.
# ARGS goes on to the program: make serve ARGS='--port 9000', make test ARGS='-k invite -x'

BIN := .venv/bin
ARGS =
MEMBERS := protocol server clients/cli
PROJECTS := $(MEMBERS:%=%/pyproject.toml)
PEERS := $(patsubst %,bench/peers/%/node_modules/.package-lock.json,boardgame colyseus)

# An environment that moved, or whose Python is gone, is no better than none.
ALIVE := $(shell [ "$$(cat .venv/run.done 2>/dev/null)" = "$$(pwd -P)" ] && \
	$(BIN)/python -c 'import scopa_protocol' 2>/dev/null && echo yes)
FORCE := $(if $(ALIVE),,force)

# The locked pyright brings its own Node and needs no network.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PYRIGHT_PYTHON_CACHE_DIR := $(CURDIR)/.venv/cache
unexport PYRIGHT_PYTHON_FORCE_VERSION PYRIGHT_PYTHON_PYLANCE_VERSION
# A variable left over in the shell must not decide what is imported.
unexport PYTHONPATH PYTHONHOME
# For requirements/install, which chooses among what there is when it is empty.
export PYTHON

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command 'make lock' --no-emit-package scopa-protocol \
	--no-emit-package scopa-server --no-emit-package scopa-cli $(ARGS)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup serve test chaos soak bench bench-peers rooms-test growth-test deploy-test check \
	format demo picture docs build lock clean force

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(firstword $(MAKEFILE_LIST)) | expand -t 13

setup: .venv/dev.done ## make .venv with the three packages and the development tools

.venv/run.done: requirements/run.txt requirements/install $(PROJECTS) $(FORCE)
	@sh requirements/install run

.venv/dev.done: .venv/run.done requirements/dev.txt
	@sh requirements/install dev

serve: .venv/run.done ## host a table at ws://127.0.0.1:8765, rooms kept in data/
	@$(BIN)/scopa-server $(ARGS)

test: .venv/dev.done ## run every test, on up to four cores (ARGS='-n 0 --pdb': in one process)
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal $(ARGS)

soak: .venv/dev.done ## 200 tables and every nuisance for ten minutes (ARGS='--minutes 1')
	@PYTHONPATH=tests $(BIN)/python -m soak $(ARGS)

bench: .venv/dev.done ## measure it beside reference points (ARGS=--quick: in a minute)
	@cd bench && PYTHONPATH=. ../$(BIN)/python -m scopa_bench $(ARGS)

bench-peers: .venv/dev.done $(PEERS) ## the same beside boardgame.io and Colyseus (needs Node.js 18+)
	@cd bench && PYTHONPATH=. ../$(BIN)/python -m scopa_bench --peers $(ARGS)

bench/peers/%/node_modules/.package-lock.json: bench/peers/%/package-lock.json
	npm ci --prefix bench/peers/$* --ignore-scripts --no-audit --no-fund

chaos: .venv/dev.done ## cause every fault on purpose and see what holds; ARGS='--seed 7'
	@PYTHONPATH=tests $(BIN)/python -m chaos $(ARGS)

rooms-test: .venv/dev.done ## open ten thousand rooms, leave them, and see what is left; some minutes
	@$(BIN)/python tests/e2e/rooms.py $(ARGS)

growth-test: .venv/dev.done ## let a minute of people who want to fill the store at a real server
	@PYTHONPATH=tests $(BIN)/python -m growth $(ARGS)

deploy-test: .venv/run.done ## rehearse docs/deploying.md with containers and faults (needs Docker)
	@cd deploy && PYTHONPATH=. ../$(BIN)/python -m rehearsal $(ARGS)

check: .venv/dev.done ## formatting, lint, import contracts and types
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	$(BIN)/pyright

format: .venv/dev.done ## format, and mend what ruff can
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

demo: .venv/run.done ## see a table of four play against a real server
	@$(BIN)/python tests/e2e/demo.py $(ARGS)

picture: .venv/run.done ## draw the picture in the README from a real run (needs tmux)
	@$(BIN)/python docs/pictures/make.py

docs: .venv/run.done ## write the tables in docs/rules and the schemas anew
	@$(BIN)/python docs/rules/make.py
	@$(BIN)/python docs/schema/make.py

build: .venv/dev.done ## build the wheels and source archives of all three into dist/
	@for member in $(MEMBERS); do \
		$(BIN)/python -m build --no-isolation --outdir dist $$member || exit 1; done

lock: .venv/dev.done ## write the locks anew; ARGS=--upgrade takes newer releases
	$(COMPILE) requirements/run.in --output-file requirements/run.txt
	$(COMPILE) --constraint requirements/run.txt requirements/dev.in \
		--output-file requirements/dev.txt

clean: ## remove what make made; rooms in data/ stay
	rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
