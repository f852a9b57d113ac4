# Two commands do everything on a fresh machine: `make demo` and `make test`. `make check` is what a commit must pass.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LIBRARIES := .venv-libraries
SHARED := $(wildcard ../shared)
PYTEST_ARGS ?= $(if $(SHARED),--shared=$(SHARED))
# These compare two commits or take long, and are run by hand.
COMPARISONS := against exact_search house many_questions mutants same start_up superlinear trace
BENCHMARKS := $(filter-out $(COMPARISONS:%=benchmarks/%.py),$(wildcard benchmarks/*.py))
INSTALL := bin/python -m pip install --quiet --disable-pip-version-check
PIP := $(VENV)/$(INSTALL) -c constraints.txt

PYTEST := $(BIN)/python -m pytest
# Properties are tried on fewer examples than at night.
FEW := --hypothesis-profile=few
# Each worker begins with a half of the tests in order, so that both share few fixtures of modules.
TWO := -n 2 --dist worksteal
REAL := tests/adapt/test_real_libraries.py
PARTS := 0 1 2 3 4 5
PART ?= $(PARTS)
# Compiled code is kept whatever the environment says: the tests start some hundred processes, each of which would compile
# the package, and the workers would compile the tests.
unexport PYTHONDONTWRITEBYTECODE
# Two workers on two cores: threads of linear algebra would wait for each other, spinning.
export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help demo quick test libraries nightly $(PARTS:%=nightly-%) check goldens docs format bench build clean

help: ## Show the targets.
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

%/bin/python:
	$(PYTHON) -m venv $*

# The stamps hold what is installed, so that nothing is installed twice.
$(VENV)/demo.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e '.[local]'
	@touch $@

$(VENV)/dev.stamp: $(BIN)/python pyproject.toml loopback/pyproject.toml constraints.txt requirements-dev.txt
	$(PIP) -e '.[all]' -r requirements-dev.txt
	@touch $@ $(VENV)/demo.stamp

# They want other versions of what the tools need, and so an environment of their own.
$(LIBRARIES)/stamp: $(LIBRARIES)/bin/python pyproject.toml loopback/pyproject.toml requirements-libraries.txt
	$(LIBRARIES)/$(INSTALL) -e . -r requirements-libraries.txt
	@touch $@

demo: $(VENV)/demo.stamp ## Run a real evaluation on the built-in handbook.
	$(BIN)/rag-eval demo

quick: $(VENV)/dev.stamp ## Run the tests that are not slow: the daily loop, at most two minutes.
	$(PYTEST) $(TWO) $(FEW) -m "not slow and not nightly" $(PYTEST_ARGS)

test: $(VENV)/dev.stamp ## Run every kind of test once, in at most 12 minutes on two cores.
	$(PYTEST) $(TWO) $(FEW) $(PYTEST_ARGS)

libraries: $(LIBRARIES)/stamp ## Run the tests on LangChain, LlamaIndex, Haystack, chonkie and Chroma as they are; none is skipped.
	EXPECT_LIBRARIES=1 $(LIBRARIES)/bin/python -m pytest -m nightly $(REAL)

nightly: $(PART:%=nightly-%) ## Run what is too long for every day; PART=0 to 5 is one part, of at most 25 minutes.

# Coverage of the tests that run in their own process and are in `make test`; others trace nothing.
nightly-0: $(VENV)/dev.stamp
	$(PYTEST) $(TWO) -m "not nightly and not no_cover" --cov --cov-report= --cov-fail-under=95 $(PYTEST_ARGS)

nightly-1: $(VENV)/dev.stamp
	$(PYTEST) -m nightly tests/test_mutants.py -k first

nightly-2: $(VENV)/dev.stamp
	$(PYTEST) -m nightly tests/test_mutants.py -k second

nightly-3: $(VENV)/dev.stamp
	$(PYTEST) $(TWO) -m nightly tests/fuzz $(PYTEST_ARGS)

nightly-4: $(VENV)/dev.stamp
	$(PYTEST) $(TWO) -m nightly tests/kills

# All others, and properties that part 0 does not trace, on all of their examples.
nightly-5: $(VENV)/dev.stamp libraries
	$(PYTEST) $(TWO) -m nightly --ignore=$(REAL) --ignore=tests/test_mutants.py --ignore=tests/fuzz --ignore=tests/kills $(PYTEST_ARGS)
	$(PYTEST) $(TWO) -m "hypothesis and no_cover and not nightly" $(PYTEST_ARGS)

check: $(VENV)/dev.stamp test ## Format, lint, types and docs, beside `make test`.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python docs/generate_metrics.py --check
	$(BIN)/python docs/generate_schema.py --check

goldens: $(VENV)/dev.stamp ## Keep what changed in tests/golden, if benchmarks/differences.toml says why.
	$(BIN)/python benchmarks/same.py --keep

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

clean: ## Remove the virtual environments and everything that was built.
	rm -rf $(VENV) $(LIBRARIES) dist build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
