# Every target sets up all it needs: `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.demo
# What Python compiles is kept: a suite that starts a hundred processes would compile it in each.
export PYTHONDONTWRITEBYTECODE :=
SOURCES := pyproject.toml setup.py $(wildcard jaxneuro/_kernels/native/*)

# Two environments that compile for cards which are not there, with the oldest jax that is supported
# and the newest of this Python.
GPU := .venv-gpu
GPU_JAX_oldest := jax==0.10.0 jax-cuda12-plugin==0.10.0 jax-cuda12-pjrt==0.10.0
GPU_JAX_newest := jax jax-cuda12-plugin jax-cuda12-pjrt
GPU_STAMPS := $(GPU)/oldest/.installed $(GPU)/newest/.installed

.PHONY: demo small-demo test test-all gpu-check science lint types native-debug wheel-check zoo clean

demo: $(DEMO)
	$(BIN)/python examples/balanced_network.py --out demo.png

small-demo: $(DEMO)
	$(BIN)/python examples/balanced_network.py --neurons 400 --seconds 0.2 --out $(VENV)/demo.png

test: $(STAMP)
	$(BIN)/python -m pytest -m "not slow and not science" -n 2 --dist loadgroup

# What `make test` leaves out. Then, with the code that users get (`tests/compiling.py`), what needs that; and
# kernels, networks and the laws with the shapes of arrays checked. `make gpu-check` where it has been called before.
test-all: $(STAMP)
	$(BIN)/python -m pytest -m "slow and not thorough and not science" -n 2 --dist loadgroup
	JAXNEURO_THOROUGH=1 $(BIN)/python -m pytest -m thorough -n 2 --dist loadgroup
	JAXNEURO_THOROUGH=1 JAXNEURO_CHECK_SHAPES=1 $(BIN)/python -m pytest -m "not slow and not science" \
	  -n 2 --dist loadgroup tests/kernels tests/network tests/laws/test_laws.py
	if [ -f $(GPU)/newest/.installed ]; then $(MAKE) gpu-check; fi

gpu-check: $(STAMP) $(GPU_STAMPS)
	for jax in oldest newest; do $(GPU)/$$jax/bin/python -m benchmarks gpu_check || exit 1; done

$(GPU_STAMPS): $(GPU)/%/.installed: pyproject.toml
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
	  $(GPU_JAX_$*) nvidia-cuda-nvcc-cu12 equinox jaxtyping scipy
	touch $@

science: $(STAMP)
	JAXNEURO_THOROUGH=1 $(BIN)/python -m pytest -m science -n 2 --dist loadgroup

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
# one for the build alone would take ten seconds. They are compiled while pip installs what the
# package, and jaxlib, need. The demo waits for no tools of a developer, and for no modules that it does not
# import to be compiled.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
$(DEMO): extras := plot,progress
$(STAMP): extras := plot,progress,dev
$(DEMO) $(STAMP): $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps "setuptools>=77" "jaxlib>=0.10"
	$(BIN)/python scripts/requirements.py $(extras) >$(VENV)/needed.txt
	$(BIN)/python setup.py --quiet build_ext & kernels=$$!; \
	  $(PIP) --requirement $(VENV)/needed.txt; needed=$$?; wait $$kernels; exit $$needed
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $(DEMO) $@

clean:
	rm -rf $(VENV) $(GPU) build dist *.egg-info jaxneuro/_kernels/_cpu.so demo.png
