# turngate. `make` builds; `make test` is what to run before a commit.

GO ?= go
# How long `make fuzz` and `make fuzz-long` run each fuzz target.
FUZZTIME ?= 10s
FUZZTIME_LONG ?= 10m
# How long `make soak` takes.
SOAK ?= 20m
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.PHONY: build test race demo bench full lint fixtures-check fuzz fuzz-long e2e soak docs release ci clean

build: ## the binary, for this machine
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/turngate ./cmd/turngate

test: ## all tests that need Go alone
	$(GO) test ./...

race: ## the same under the race detector
	$(GO) test -race ./...

demo: ## upstream, proxy and client in one process: what turngate does, shown
	$(GO) run ./cmd/turngate demo

bench: ## the benchmarks of the working tree beside those of a commit; BASE=v1 COUNT=10 BENCH=regexp PKG=./sse
	@BASE='$(value BASE)' COUNT='$(value COUNT)' BENCH='$(value BENCH)' PKG='$(value PKG)' .ci/bench

lint: ## formatting, vet and staticcheck
	.ci/lint

fixtures-check: ## rules that no fixture and no test names
	$(GO) run ./cmd/fixturescheck

fuzz: ## each fuzz target for a short time
	.ci/fuzz $(FUZZTIME)

fuzz-long: ## each fuzz target for a long time
	.ci/fuzz $(FUZZTIME_LONG)

e2e: ## as race, with real clients and services; those that are missing fail
	.ci/with-tools $(GO) test -race -count=1 ./...

soak: ## 200 streams at once with faults at random, under reloads; SOAK=3m for shorter
	TURNGATE_TEST_SOAK=$(SOAK) $(GO) test -count=1 -timeout 0 -run TestSoak -v ./cmd/turngate

full: export TURNGATE_TEST_CHAINS = 1000
full: export TURNGATE_TEST_KILLS = 20
full: export TURNGATE_TEST_BULK = 10000
full: lint fixtures-check e2e fuzz-long bench soak ## all that there is; takes hours

docs: ## the pages in docs/ that are made from code
	$(GO) test ./cmd/turngate/config -run TestReference -update

release: ## static binaries for all platforms and their checksums, in dist/
	@rm -rf dist
	@set -e; for p in $(PLATFORMS); do \
		out=dist/turngate-$${p%/*}-$${p#*/}; \
		case $$p in windows/*) out=$$out.exe ;; esac; \
		echo "$$out"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -trimpath -buildvcs=true -ldflags='-s -w' -o "$$out" ./cmd/turngate; \
	done
	@cd dist && sha256sum turngate-* >SHA256SUMS

ci: ## what CI runs
	bash .ci/run

clean:
	rm -rf bin dist
