# make help lists what there is to do.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
GO ?= go

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/vitrine
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/vitrine ./cmd/vitrine

.PHONY: demo
demo: build ## Set everything up, import a sample library, serve it, and say where
	@bin/vitrine demo

.PHONY: down
down: build ## Stop the service and the local servers; what they keep stays
	@bin/vitrine demo down

.PHONY: reset
reset: build ## Stop, and forget the library and the servers' data
	@bin/vitrine demo reset

# Tests wait for servers more than they compute, so more of them run side by side than there are cores. The packages
# that take longest come first: one that began last would be waited for alone.
LONG := ./internal/e2e ./store ./service ./cmd/vitrine-bench/relevance ./cmd/vitrine-bench/bench ./indexer ./query ./op/search ./backup

.PHONY: test
test: vet tools ## Run every test on real servers; what tests need is installed first
	@$(GO) run ./cmd/vitrine stack up & up=$$!; $(GO) test -tags onnx -vet=off ./embed; status=$$?; wait $$up && exit $$status
	@$(GO) run ./internal/testrun -timeout 45m -vet=off -ldflags=-s -p 2 -parallel 4 $(LONG) ./...

.PHONY: tools
tools: ## Install what tests need: programs, libraries, a sentence model
	@$(GO) run ./internal/tools/install

.PHONY: lock-tools
lock-tools: ## Write the versions of all packages that tests need
	@$(GO) run ./internal/tools/install -lock internal/tools/lock

.PHONY: random
random: ## Run the random tests with FACTOR (100) times as many cases
	@FACTOR=$(FACTOR) .ci/random.sh

.PHONY: vet
vet: ## Check formatting and run go vet
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	@$(GO) vet ./...
	@$(GO) vet -tags failpoint ./internal/failpoint ./indexer
	@$(GO) vet -tags onnx ./embed

.PHONY: lint
lint: ## Run golangci-lint, which is built on first use
	@$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

.PHONY: openapi-test
openapi-test: ## Test the service against its OpenAPI document with EXAMPLES (100) cases per operation and phase
	@VITRINE_OPENAPI_EXAMPLES=$${EXAMPLES:-100} $(GO) test ./internal/e2e -run TestOpenAPI_SchemathesisFindsNoFault -count=1 -v -timeout 6h

.PHONY: fuzz
fuzz: ## Fuzz every reader of files and queries, ten CPU minutes each on one core
	@LOG=bin/fuzz .ci/fuzz.sh

.PHONY: bench-indexer
bench-indexer: ## Measure the indexer against raw bulk requests
	@$(GO) test -run '^$$' -bench BenchmarkIndexer -benchtime 3x -timeout 30m ./indexer

.PHONY: sheet
sheet: ## Paint every kind of sample picture into bin/sheet.png
	@mkdir -p bin && $(GO) run ./internal/sample/sheet bin/sheet.png

.PHONY: docs
docs: ## Write the generated documents and the typed client
	@$(GO) generate ./api/client
	@$(GO) run ./cmd/vitrine docs

.PHONY: bench
bench: ## Measure the service against the bare engines and write docs/measurements/performance.md
	@CGO_ENABLED=0 $(GO) build -trimpath -o bin/vitrine-bench ./cmd/vitrine-bench
	@bin/vitrine-bench --write docs/measurements/performance.md
