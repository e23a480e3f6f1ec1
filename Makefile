# make demo    set up .venv and do the main job on a sample
# make test    set up .venv and run the tests, but for the slow ones
# make test-slow  the slow ones, but for the slowest
# make test-all  all three
# make harmless  the long form of the tests: all programs that must run inspected as they run alone, seven models, every
#              witness on every sample, many more hostile dumps; make test has a short form of each. With
#              PYTORCH_TESTS=FOLDER, the folder test of a checkout of PyTorch, some 150 of PyTorch's own tests, too
# make targets  run --target, for an H100, an MI300X and others, down to machine code; no GPU is needed
# make bench   what watching a compile costs: three models, cold and with warm caches (at most 20 minutes)
# make bench-all  the same for all models, 11 pairs, and against torch's own switches (some hours)
# make compat TORCH=2.15.0   sets up .venv-2.15.0 with that torch, and runs the tests with it
# make pictures  draw the pictures of README.md and docs/ anew
# make words ROOM=inspector/tables   print every sentence that a person can see of a room, or of all, in a row
# make reference  write the tables of docs/dump.md and docs/dump.schema.json anew from inspector/facts, and
#              docs/reference.md from the commands; make man writes build/man/inspect-compile.1
# make docs    build build/site of docs/, strictly: a link that leads nowhere fails
# make changelog VERSION=0.2.0   moves the fragments in changelog.d into CHANGELOG.md, and sets the version
# make dist    build the sdist and the wheel of the last commit into dist/, the same to the byte each time
# make wheel-test  install that wheel in fresh environments outside the checkout: one without torch reads a dump, one with
#              torch passes make test; READERS="python3.12 python3.13": more Pythons that read
# make release  all of a release but the tag and the upload, and says what is left to a person
# make check   what a change must pass: format, lint, strict types, import contracts, tests
#
# PYTHON chooses the interpreter, VENV the environment, and pip's own settings (PIP_CONSTRAINT, PIP_INDEX_URL, …) hold:
# a machine without a GPU needs no CUDA build of torch.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO := build/demo
SAMPLE := missed_fusion.py
COUNTED := gpt2-12 bert resnet-training
# Each of the workers that run the tests compiles, and wants a core.
WORKERS ?= 2
# Which of them: a folder, a file, file::test.
TESTS ?= tests
# More Pythons that must read a dump from the wheel: make wheel-test READERS="python3.12 python3.13".
READERS ?=
# CPU seconds that make test may take, and a fifth more; CI sets it.
CPU_BOUND ?=
PYTEST = $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal
CONSTRAINTS := $(wildcard $(PIP_CONSTRAINT))
# Another torch has an environment of its own, unless VENV names one; the packages whose versions it does not bound
# itself are CI's, unless PIP_CONSTRAINT names some.
COMPAT := $(if $(filter command environment,$(origin VENV)),$(VENV),.venv-$(TORCH))
COMPAT_CONSTRAINT := $(or $(PIP_CONSTRAINT),build/constraints-but-torch.txt)

# Without it every process that the tests start would compile this project's modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-all harmless targets bench bench-all compat pictures words reference man docs changelog dist wheel-test release check format lint types contracts pytest links prepare clean
.NOTPARALLEL:

demo: $(VENV)/.for-use
	rm -rf $(DEMO)
	$(BIN)/inspect-compile run --no-tui --measure --dump $(DEMO) samples/$(SAMPLE)
	$(BIN)/inspect-compile show $(DEMO)
	@if command -v dot >/dev/null; then set -x; $(BIN)/inspect-compile draw $(DEMO) schedule; \
	else echo "No SVG: 'dot' is not installed (Graphviz)"; fi
	$(BIN)/inspect-compile why $(DEMO) $(SAMPLE):22 $(SAMPLE):24
	@echo
	@echo "Walk through it in the terminal (q quits, ? lists the keys): $(BIN)/inspect-compile open $(DEMO)"

test: $(VENV)/.for-development
	$(PYTEST) -m "not slow and not slowest and not harmless and not targets" $(if $(CPU_BOUND),--cpu-bound $(CPU_BOUND)) $(TESTS)

test-slow: $(VENV)/.for-development
	$(PYTEST) -m "slow and not harmless and not targets" $(TESTS)

test-all: $(VENV)/.for-development pytest

harmless: $(VENV)/.for-development
	$(PYTEST) -m harmless $(TESTS)

targets: $(VENV)/.for-development
	$(PYTEST) -m "targets and not harmless" $(TESTS)

bench: $(VENV)/.for-development
	$(BIN)/python benchmarks/bench_compile.py --pairs 3 --minutes 6 --ways facts inspected --models $(COUNTED)

bench-all: $(VENV)/.for-development
	$(BIN)/python benchmarks/bench_compile.py

compat:
	@[ -n "$(TORCH)" ] || { echo "Say which torch to test with: make compat TORCH=2.15.0" >&2; exit 2; }
	$(MAKE) VENV=$(COMPAT) $(COMPAT)/.for-torch-$(TORCH)
	$(COMPAT)/bin/pytest --numprocesses $(WORKERS) --dist worksteal -o cache_dir=$(abspath $(COMPAT))/pytest $(TESTS)

pictures: $(VENV)/.for-development links
	PYTHONPATH=build/typing $(BIN)/python -m tests.tui.picture
	rm -rf build/pictures
	$(BIN)/inspect-compile run --no-tui --dump build/pictures samples/attention_block.py
	$(BIN)/inspect-compile draw build/pictures schedule -o docs/images/schedule.svg
	$(BIN)/inspect-compile draw build/pictures kernel cpp_fused_gelu_view_2 -o docs/images/kernel.svg
	rm -rf build/pictures
	$(BIN)/inspect-compile run --no-tui --dump build/pictures samples/missed_fusion.py
	$(BIN)/inspect-compile draw build/pictures schedule --findings -o docs/images/findings.svg
	rm docs/images/*.dot

words:
	@$(PYTHON) scripts/words.py $(ROOM)

reference: $(VENV)/.for-development links
	PYTHONPATH=build/typing $(BIN)/python scripts/dump_reference.py
	PYTHONPATH=build/typing $(BIN)/python scripts/command_reference.py

man: $(VENV)/.for-development links
	PYTHONPATH=build/typing $(BIN)/python scripts/command_reference.py --man build/man

docs: $(VENV)/.for-docs
	$(BIN)/python scripts/link_tree.py
	$(BIN)/python scripts/stage_pages.py
	$(BIN)/mkdocs build

changelog: $(VENV)/.for-development
	@[ -n "$(VERSION)" ] || { echo "Say which version: make changelog VERSION=0.2.0" >&2; exit 2; }
	$(BIN)/towncrier build --yes --version $(VERSION)
	sed -i.before 's/^__version__ = .*/__version__ = "$(VERSION)"/' inspector/__init__.py
	rm inspector/__init__.py.before

dist: $(VENV)/.for-release
	rm -rf dist
	$(BIN)/python scripts/build_packages.py -o dist

wheel-test: dist
	$(BIN)/python scripts/wheel_test.py $(addprefix --reader ,$(READERS))

release: $(VENV)/.for-release
	$(BIN)/python scripts/release.py $(addprefix --reader ,$(READERS))

check: $(VENV)/.for-development lint types contracts pytest

format: $(VENV)/.for-development
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/.for-development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.for-development links
	$(BIN)/mypy

contracts: $(VENV)/.for-development links
	PYTHONPATH=build/typing $(BIN)/lint-imports --no-cache

pytest: $(VENV)/.for-development
	$(PYTEST) $(TESTS)

links: $(VENV)/.for-development
	@$(BIN)/python scripts/link_tree.py

prepare:
	@scripts/prepare.sh $(PYTHON)

$(BIN)/python: | prepare
	$(PYTHON) -m venv $(VENV)

$(VENV)/.for-use: pyproject.toml $(CONSTRAINTS) | prepare $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[demo]'
	@touch $@

$(VENV)/.for-development: pyproject.toml $(CONSTRAINTS) | prepare $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.for-use

$(VENV)/.for-release: pyproject.toml $(CONSTRAINTS) | prepare $(BIN)/python
	$(BIN)/python -m pip install --quiet 'build>=1.2' 'twine>=6'
	@touch $@

$(VENV)/.for-docs: pyproject.toml $(CONSTRAINTS) | prepare $(BIN)/python
	$(BIN)/python -m pip install --quiet 'mkdocs-material>=9.5' 'mkdocstrings[python]>=0.29'
	@touch $@

$(VENV)/.for-torch-%: pyproject.toml $(CONSTRAINTS) | prepare $(BIN)/python
	@mkdir -p build && grep -vE '^(torch|triton|setuptools)==' .ci/constraints.txt >build/constraints-but-torch.txt
	PIP_CONSTRAINT=$(COMPAT_CONSTRAINT) $(BIN)/python -m pip install --quiet --editable '.[dev]' 'torch==$*'
	@touch $@

clean:
	rm -rf build $(VENV)
