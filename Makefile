# Everything a fresh machine with Python 3.11+ needs: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TOOLS := $(VENV)/tools
# One more than two cores: tests wait for servers. Not by $(MAKE) from `test`: that would run also where make only prints.
TESTS := $(BIN)/pytest -n 3 --dist worksteal --junitxml=build/tests.xml
# Tests start thousands of processes, and each would compile the package anew where an image forbids to keep bytecode.
export PYTHONDONTWRITEBYTECODE :=
# One more than two cores: its parts wait for installs, servers and clients. reality/conftest.py says who goes where.
REALITY := $(BIN)/pytest reality -m "not long" -n 3 --dist loadscope

.PHONY: demo test lint types tests reality newest scenarios proof bench site release lock clean

demo: $(STAMP)  ## the main job, in one minute, on the embedded store
	$(BIN)/memhold demo

test: lint  ## lint, types and the whole suite; the types are looked at beside the tests, and told below them
	@mkdir -p build
	@$(BIN)/mypy > build/types.txt 2>&1 & types=$$!; \
	$(TESTS); tested=$$?; \
	wait $$types; typed=$$?; cat build/types.txt; \
	[ $$tested = 0 ] && [ $$typed = 0 ]

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(TESTS)

reality: $(STAMP)  ## what nobody here wrote, as the locks pin it: Pythons, type checkers, clients, models
	$(REALITY) --junitxml=build/reality.xml

scenarios: $(STAMP)  ## what a real small model makes of the ten scenarios, in two languages; printed, in about an hour
	$(BIN)/pytest -s reality -m long

newest: $(STAMP)  ## the same with the newest release of everything
	MEMHOLD_REALITY_NEWEST=1 $(REALITY)

proof: $(STAMP)  ## the full fault counts; resumable; writes docs/proof.md
	$(BIN)/python -m benchmarks.proof

bench: $(STAMP)  ## the benchmark tables, and 20,000 made-up windows a rule
	$(BIN)/python -m benchmarks
	MEMHOLD_EXAMPLES=20000 $(BIN)/pytest -s -q tests/messages tests/context -k "any_window or any_history or any_cut_is or both_take"

site: $(TOOLS)/.installed  ## the documents as a site of plain files, with every link looked at: build/site/html
	$(TOOLS)/bin/python scripts/build_site.py

release: $(TOOLS)/.installed  ## wheel, source distribution and their parts list in dist/, tried on each Python that is here; uploads nothing
	$(TOOLS)/bin/python scripts/release.py

$(TOOLS)/.installed: requirements-tools.lock
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-tools.lock
	touch $@

# The lock names all that is needed, so nothing is resolved; of five thousand modules two fifths are ever compiled.
$(STAMP): requirements.lock requirements-encrypted.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Memhold needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes --no-deps -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes --no-deps --upgrade --target $(VENV)/encrypted -r requirements-encrypted.lock
	touch $@

lock:  ## renew the locks from pyproject.toml and reality/; needs uv and npm
	uv pip compile pyproject.toml --extra postgres --extra server --extra telemetry --extra testing --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements.lock
	uv pip compile --group tools --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements-tools.lock
	echo apsw-sqlite3mc | uv pip compile - --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements-encrypted.lock
	uv pip compile pyproject.toml reality/requirements.in --all-extras --constraint requirements.lock --universal --python-version 3.11 \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o reality/requirements.lock
	for each in reality/frameworks/*.in reality/suites/*.in; do \
	  uv pip compile pyproject.toml $$each --universal --python-version 3.11 \
	    --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o $${each%.in}.lock || exit 1; done
	for each in reality/node reality/typescript; do \
	  (cd $$each && npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts) || exit 1; done

clean:
	rm -rf $(VENV) .reality .mypy_cache .ruff_cache .pytest_cache .hypothesis
