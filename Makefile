# All set-up is done here: a fresh machine needs Python 3.11 or later and make, nothing else.
# To use another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# -qq: errors only
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq
# Byte code is always kept, because hundreds of tests start a new Python.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo docs test hostile lint clean
.NOTPARALLEL:

help:
	@echo "make demo    simulate a falling humanoid: costs of its dynamics with every method, and pictures"
	@echo "make docs    build the site in build/site; warnings are errors"
	@echo "make test    lint, then run all tests and examples, in parallel"
	@echo "make hostile try wrong arguments, signals, threads, forks and damaged files, for HOSTILE_SECONDS=600"
	@echo "make lint    run ruff (rules and format) and mypy (strict, for Python 3.11 and 3.14)"
	@echo "make clean   remove the environment, caches and build products"

demo: $(VENV)/.demo
	@$(BIN)/bough demo --folder build/demo

# Pages open from the disk; the search box needs a server.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "build/site/index.html, or with search: $(BIN)/python -m http.server -d build/site"

# The suite runs on the interpreter of the environment (3.11 in CI). The second run of mypy checks the
# source for Python 3.14.
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# side by side: each has a cache of its own
	$(BIN)/mypy --python-version 3.11 & first=$$!; \
	    $(BIN)/mypy --python-version 3.14; second=$$?; wait $$first && exit $$second

# One thread per worker in linear-algebra libraries: the workers already fill the cores.
test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

# A summary is printed at the end; HOSTILE_SEED=n repeats a run.
HOSTILE_SECONDS ?= 600
hostile: $(VENV)/.test
	$(BIN)/python tests/hostile/run.py --seconds $(HOSTILE_SECONDS) $(if $(HOSTILE_SEED),--seed $(HOSTILE_SEED))

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples -type d -name __pycache__ -prune -exec rm -rf {} +

# The environment, with one stamp for the needs of each command; made again when the metadata changes.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "bough needs Python 3.11 or later, and $(PYTHON) is not; try make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.created pyproject.toml src/bough/__about__.py
	$(PIP) install -e '.[all]'
	@touch $@

$(VENV)/.docs: $(VENV)/.created pyproject.toml src/bough/__about__.py
	$(PIP) install -e '.[docs]'
	@touch $@

# Byte code of what is installed is made on all cores, which pip does on one; what no Python of ours can read stays source.
$(VENV)/.test: $(VENV)/.created pyproject.toml src/bough/__about__.py
	$(PIP) install --no-compile -e '.[test]'
	-@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib
	@touch $@ $(VENV)/.demo $(VENV)/.docs
