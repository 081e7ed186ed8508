# Everything a fresh clone needs: make, and Python 3.10 or newer.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help train test test-slow test-bounds test-browser test-examples test-ray test-oldest docs bench golden pictures clean

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PY      = $(BIN)/python
PINS    = constraints.txt

CONFIG     ?= configs/quick.yaml
RUN        ?= runs/quick
TRAIN_ARGS ?=
BENCH_ARGS ?=
JOBS       ?= 2
CONSTRAINTS := constraints.txt
TIANSHOU    := .venv-tianshou

help:  ## list the commands
	@echo "mozaic_env: make COMMAND [VARIABLE=value]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s  %s\n", $$1, $$2 }' Makefile
	@echo "Variables: PYTHON=$(PYTHON) CONFIG=$(CONFIG) RUN=$(RUN) JOBS=$(JOBS), and TRAIN_ARGS, such as TRAIN_ARGS=--overwrite"

train: $(VENV)/.installed-train  ## install, train with CONFIG into RUN, print how it does against the baselines
	$(PY) -m training.train --config $(CONFIG) --run-dir $(RUN) $(TRAIN_ARGS)

test: $(VENV)/.installed-dev  ## install, check style and types, run the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PY) -m pytest -n $(JOBS) --dist worksteal

test-slow: $(VENV)/.installed-dev  ## run the tests that take minutes
	$(PY) -m pytest -m slow

test-bounds: $(VENV)/.installed-dev  ## run the tests of the environments with compiled code that checks every index
	NUMBA_BOUNDSCHECK=1 MOZAIC_ENV_CACHE=$(CURDIR)/build/bounds $(PY) -m pytest tests/envs

test-browser: $(VENV)/.installed-dev  ## play the page in headless Chromium, installed from the distribution if there is none
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  command -v apt-get >/dev/null || { echo "No Chromium, and no apt-get to install it with: install it by hand" >&2; exit 1; }; \
	  apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; }
	$(PY) -m pytest tests/web/play/test_browser.py

test-examples: $(VENV)/.installed-torchrl $(TIANSHOU)/.installed  ## install the other examples' libraries, run those
	$(PY) -m pytest -m examples
	$(TIANSHOU)/bin/python -m pytest -m examples

docs: $(VENV)/.installed-docs  ## build the documentation into build/docs; warnings are errors
	@$(PY) -c 'import mkdocs' 2>/dev/null || { echo "the documentation needs Python 3.11 or newer" >&2; exit 1; }
	@mkdir -p build && NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict >build/docs.log 2>&1 \
	  || { grep -v ^INFO build/docs.log >&2; exit 1; }
	@echo "built: build/docs/index.html"

test-ray: .venv-ray/.installed  ## run the tests that start Ray, and those of the environments with RLlib's Gymnasium, in .venv-ray
	.venv-ray/bin/python -m pytest -m ray -W ignore -o faulthandler_timeout=1800 -o faulthandler_exit_on_timeout=true
	.venv-ray/bin/python -m pytest tests/envs

test-oldest: .venv-oldest/.installed  ## run the tests of the environments with the oldest Gymnasium, in .venv-oldest
	.venv-oldest/bin/python -m pytest tests/envs

bench: $(VENV)/.installed-train  ## measure the environment's speed on this machine
	$(BIN)/mozaic bench $(BENCH_ARGS)

golden: $(VENV)/.installed-dev  ## write the golden playthroughs anew (then read the diff)
	$(PY) -m tests.golden.regenerate

pictures: $(VENV)/.installed-dev  ## draw the kept pictures and the documentation's board anew (then look at them)
	$(PY) -m tests.games.mozaic.pictures.regenerate

clean:  ## remove the virtual environment, caches and builds; runs/ stays
	rm -rf $(VENV) .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp remembers an install, so it is repeated only when what it installs has changed.
comma := ,
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "mozaic_env needs Python 3.10 or newer, and '$(PYTHON)' is not: name another, as in make PYTHON=python3.12" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { \
	  echo "Could not create $(VENV): Python's venv module is needed (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(PY) -m pip install --quiet --no-input --disable-pip-version-check -c $(CONSTRAINTS) -e '.[$(1)]'
endef

$(VENV)/.installed-train: pyproject.toml constraints.txt
	$(call install,train$(comma)play)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt
	$(call install,train$(comma)play$(comma)dev$(comma)docs)
	@touch $@ $(VENV)/.installed-train $(VENV)/.installed-docs

$(VENV)/.installed-docs: pyproject.toml constraints.txt
	$(call install,docs)
	@touch $@

$(VENV)/.installed-torchrl: pyproject.toml constraints.txt
	$(call install,train$(comma)dev$(comma)torchrl)
	@touch $@ $(VENV)/.installed-train

# Tianshou needs an older filelock than the rest is tested with.
$(TIANSHOU)/.installed: override VENV := $(TIANSHOU)
$(TIANSHOU)/.installed: override PY := $(TIANSHOU)/bin/python
$(TIANSHOU)/.installed: override CONSTRAINTS := build/constraints-tianshou.txt
$(TIANSHOU)/.installed: pyproject.toml constraints.txt
	@mkdir -p build && sed 's/^filelock==.*/filelock==3.32.7/' constraints.txt > $(CONSTRAINTS)
	$(call install,train$(comma)dev$(comma)tianshou)
	@touch $@

# Two environments with another Gymnasium than constraints.txt pins. The file of pins lies beside them, since making
# an environment anew clears it.
.venv-ray/.installed .venv-oldest/.installed: override VENV = $(@D)
.venv-ray/.installed .venv-oldest/.installed: override PY = $(@D)/bin/python
.venv-ray/.installed .venv-oldest/.installed: override CONSTRAINTS = build/$(@D).txt

.venv-ray/.installed: pyproject.toml constraints.txt constraints-ray.txt
	@mkdir -p build
	@awk -F '==' 'NR == FNR { ours[$$1] } NR == FNR || !($$1 in ours)' constraints-ray.txt constraints.txt > $(CONSTRAINTS)
	$(call install,train$(comma)rllib$(comma)dev)
	@touch $@

.venv-oldest/.installed: pyproject.toml constraints.txt
	@mkdir -p build
	@sed 's/^gymnasium==.*/gymnasium==1.1.0/' constraints.txt > $(CONSTRAINTS)
	$(call install,train$(comma)dev)
	@touch $@
