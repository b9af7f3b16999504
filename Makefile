# Every target sets up what it needs. All of it runs on the Node.js that package-lock.json pins.
SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

SETUP := node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help setup start mongo demo test attacks forks bench-sandbox sim kills tools bench-store bench bench-replay lint format generate checkgenerate checkbreaking all

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(SETUP) ## Install the pinned packages, with install scripts off
$(SETUP): package-lock.json package.json
	npm ci --loglevel=error
	@touch $@

start: setup ## Start everything on this machine, on loopback
	bin/embedded

mongo: setup tools ## Start a local MongoDB-protocol server on port 27017
	node --no-warnings tools/mongo/start.ts

demo: setup ## Run a program against three real MCP servers, and show all of it
	@bin/code-mode demo

test: setup ## Pass all tests
	vitest run --reporter=default --reporter=json --outputFile.json=.cache/tests.json

attacks: setup ## Pass the tests of the sandbox and of everything that attacks it or a replay
	vitest run test/attacks test/sandbox test/replay/attacks.test.ts

forks: setup ## Fork 50,000 children from 500 zygotes, and tell of each that was not ready (about five minutes)
	node --no-warnings test/stress/forks.ts

bench-sandbox: setup ## Measure locked processes against started ones and bare isolated-vm
	node --no-warnings test/bench/sandbox.ts

sim: setup ## Simulate 100,000 runs under crashes, cancels and changes (about half an hour)
	SIM_CASES=100000 SIM_REAL_CASES=300 vitest run test/sim

kills: setup tools ## Kill services and stores 200 times at random moments, and look at what is left (about twenty minutes)
	KILLS=50 vitest run --no-file-parallelism test/store/kill.test.ts test/e2e/store-kills.test.ts

tools: ## Build what tests talk to (needs Go and Python): ferretdb, bao, grpcurl, a Python client
	tools/build-servers.sh
	tools/build-python.sh

bench-store: setup ## Measure the stores against the same rows without sealing
	node --no-warnings test/bench/store.ts

bench: setup ## Measure both services against bare isolated-vm, as ratios (ROUNDS=30)
	node --no-node-snapshot --no-warnings test/bench/main.ts

bench-replay: setup ## Measure what a replay of up to 1,000 recorded calls costs, the same way (ROUNDS=20)
	node --no-node-snapshot --no-warnings test/bench/replay.ts

lint: setup ## Check format, lint rules, protocol and types
	biome check --error-on-warnings .
	buf lint
	tsc -p .
	tsc -p services/sandbox/realm

format: setup ## Format and fix what can be fixed by itself
	biome check --write .
	buf format -w

generate: setup ## Generate gen/ from proto/
	buf generate

checkgenerate: setup ## Fail if gen/ is stale
	buf generate
	@git diff --exit-code --stat -- gen && test -z "$$(git status --porcelain -- gen)" || { echo 'gen/ is stale: run "make generate" and commit it' >&2; exit 1; }

checkbreaking: setup ## Fail if proto/ breaks what BASE had (default: the last commit)
	tools/check-breaking.sh $(BASE)

all: lint checkgenerate checkbreaking test ## Everything that CI runs
