# Two commands do everything on a fresh machine: `make demo` and `make test`. `make check` is what a commit must pass.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHARED := $(wildcard ../shared)
PYTEST_ARGS ?= $(if $(SHARED),--shared=$(SHARED))
# These compare two commits or take long, and are run by hand.
COMPARISONS := against exact_search house many_questions mutants same superlinear trace
BENCHMARKS := $(filter-out $(COMPARISONS:%=benchmarks/%.py),$(wildcard benchmarks/*.py))
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo quick test coverage check goldens mutants fuzz docs format bench build clean

help: ## Show the targets.
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The stamps hold what is installed, so that nothing is installed twice.
$(VENV)/demo.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e '.[local]'
	@touch $@

$(VENV)/dev.stamp: $(BIN)/python pyproject.toml constraints.txt requirements-dev.txt
	$(PIP) -e '.[all]' -r requirements-dev.txt
	@touch $@ $(VENV)/demo.stamp

demo: $(VENV)/demo.stamp ## Run a real evaluation on the built-in handbook.
	$(BIN)/rag-eval demo

quick: $(VENV)/dev.stamp ## Run the tests that are not slow: the daily loop, at most two minutes.
	$(BIN)/python -m pytest -n 2 -m "not slow" $(PYTEST_ARGS)

test: $(VENV)/dev.stamp ## Run all tests.
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

coverage: $(VENV)/dev.stamp ## Run all tests traced, with the coverage floor: nearly twice the time.
	$(BIN)/python -m pytest -n 2 --cov --cov-report= --cov-fail-under=95 $(PYTEST_ARGS)

check: $(VENV)/dev.stamp coverage ## Format, lint, types and docs, beside all tests and their coverage.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python docs/generate_metrics.py --check
	$(BIN)/python docs/generate_schema.py --check

goldens: $(VENV)/dev.stamp ## Keep what changed in tests/golden, if benchmarks/differences.toml says why.
	$(BIN)/python benchmarks/same.py --keep

mutants: $(VENV)/dev.stamp ## Run the tests on 300 mutants of the code that makes numbers: about half an hour.
	$(BIN)/python benchmarks/mutants.py

fuzz: $(VENV)/dev.stamp ## Try 50,000 changed samples of all that is read or returned: about a quarter of an hour.
	$(BIN)/python -m tests.fuzz --inputs 50000

docs: $(VENV)/dev.stamp ## Write the generated parts of the documentation.
	$(BIN)/python docs/generate_metrics.py
	$(BIN)/python docs/generate_schema.py

format: $(VENV)/dev.stamp ## Format the code and mend what lint can mend.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev.stamp ## Run every benchmark but the comparisons of two commits.
	@for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

build: $(VENV)/dev.stamp ## Build the wheel and the source distribution.
	$(BIN)/python -m build --outdir dist

clean: ## Remove the virtual environment and everything that was built.
	rm -rf $(VENV) dist build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
