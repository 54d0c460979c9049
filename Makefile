# Two commands for users: `make demo` and `make run`. For contributors: `make check`, `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo run down test test-browser check lint explain real soak bench quality clean format lock

help: ## Show what can be done
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

# The lock file's digests are checked by pip itself; the package is then installed from the checkout.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "amos-graph needs Python 3.11 or newer; name one: make PYTHON=python3.12 …"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "installing the $$(grep -c '==' requirements.lock) packages of requirements.lock (the first time only)"
	@$(BIN)/python -m pip install --progress-bar on --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP) ## Get a Neo4j, load a story, ask it questions, verify; both stay up (make down)
	@$(BIN)/amos demo

run: $(STAMP) ## The same in the foreground; Ctrl-C stops the service and Neo4j
	@$(BIN)/amos demo --stay

down: $(STAMP) ## Stop the service and its Neo4j
	@$(BIN)/amos down

# A given Neo4j is one; without it each worker starts its own.
WORKERS ?= $(if $(AMOS_TEST_NEO4J_URI),0,2)

test: $(STAMP) ## Run the suite on a real Neo4j (a given one, or one for each of its WORKERS)
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-browser: $(STAMP) ## Drive Neo4j Browser in Chromium, and take the pictures of the documents
	@command -v chromium >/dev/null || { echo "Chromium is missing; on Debian: apt-get install chromium"; exit 1; }
	@AMOS_PICTURES=$${AMOS_PICTURES:-docs/images} $(BIN)/pytest -m browser tests/browser

check: lint explain ## ruff, pyright strict, docs, EXPLAIN of every statement

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/python docs/generate.py --check

explain: $(STAMP)
	@$(BIN)/pytest -m explain tests/laws/test_explain.py

real: $(STAMP) ## Load the PEP history and hold it to what the data says
	@$(BIN)/python -m bench.real

soak: $(STAMP) ## The long tests, in full counts
	@$(BIN)/pytest -m soak

bench: $(STAMP) ## Measure the figures of docs/figures.md and hold them against their targets (KEEP=folder)
	@$(BIN)/python -m bench $(if $(KEEP),--keep $(KEEP))

quality: $(STAMP) ## Measure how well recall answers questions whose evidence is known
	@$(BIN)/python -m bench.quality

format: $(STAMP)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# No index address is written, so that the file names no host.
lock:
	@uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --all-extras pyproject.toml -o requirements.lock
	@uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  pyproject.toml -o docker/requirements.lock

clean: ## Remove the environment and the tests' Neo4j
	@rm -rf $(VENV) .amos-test .pytest_cache .ruff_cache .hypothesis
