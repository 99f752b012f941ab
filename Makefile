# Every target sets up all it needs: `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.demo
# What Python compiles is kept: a suite that starts a hundred processes would compile it in each.
export PYTHONDONTWRITEBYTECODE :=
SOURCES := pyproject.toml setup.py $(wildcard jaxneuro/_kernels/native/*)

.PHONY: demo small-demo test test-all science lint types native-debug wheel-check zoo clean

demo: $(DEMO)
	$(BIN)/python examples/balanced_network.py --out demo.png

small-demo: $(DEMO)
	$(BIN)/python examples/balanced_network.py --neurons 400 --seconds 0.2 --out $(VENV)/demo.png

test: $(STAMP)
	$(BIN)/python -m pytest -m "not slow and not science" -n 2 --dist loadgroup

# What `make test` leaves out.
test-all: $(STAMP)
	$(BIN)/python -m pytest -m "slow and not science" -n 2 --dist loadgroup

science: $(STAMP)
	$(BIN)/python -m pytest -m science -n 2 --dist loadgroup

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache

types: $(STAMP)
	$(BIN)/pyright --pythonpath $(BIN)/python

# Sanitizers: of addresses, undefined behaviour and threads.
native-debug: $(STAMP)
	scripts/native_debug.sh $(CURDIR)/$(BIN)/python

wheel-check: $(STAMP)
	scripts/wheel_check.sh $(CURDIR)/$(BIN)/python

zoo: $(STAMP)
	$(BIN)/python -m scripts.zoo_page
	$(BIN)/python -m scripts.objects_page

# Kernels that changed are compiled, no others, with the headers of the jaxlib that is there: a second
# one for the build alone would take ten seconds. The demo waits for no tools of a developer, and for
# no modules that it does not import to be compiled.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
$(DEMO): extras := plot,progress
$(STAMP): extras := plot,progress,dev
$(DEMO) $(STAMP): $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) "setuptools>=77" "jaxlib>=0.10"
	$(PIP) --no-build-isolation --editable ".[$(extras)]"
	touch $(DEMO) $@

clean:
	rm -rf $(VENV) build dist *.egg-info jaxneuro/_kernels/_cpu.so demo.png
