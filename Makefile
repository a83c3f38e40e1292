# `make` alone lists what there is. Nothing here needs more than Go: the formatter and the linter are
# tool dependencies of go.mod, and the race detector is used where a C compiler makes it possible.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)

# Why the race detector cannot run on this machine; empty when it can.
NO_RACE = $(strip $(shell $(GO) list -race errors 2>&1 >/dev/null | head -n 1) \
	$(shell printf '\043include <stdlib.h>\nint main(void){return 0;}\n' | \
		$$($(GO) env CC) -x c -o /dev/null - >/dev/null 2>&1 || echo no working C compiler))

# How tests run with the race detector. SQLite, C translated to Go, keeps its data outside of Go's memory, where the
# detector and checkptr see nothing: instrumenting it only makes every test with a database several times slower.
RACE = -race -gcflags='modernc.org/...=-race=false -d=checkptr=0' -gcflags='zombiezen.com/...=-d=checkptr=0'

# Every test in any order, in two packages more than there are processors: many tests wait for other processes. go vet
# has run before, so go test does not repeat it for each package.
TEST = $(GO) test -vet=off -shuffle=on -timeout 25m -p $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 2))

say = @echo "==> $(1)"
comma := ,

.DEFAULT_GOAL := help
.PHONY: help build install test quick wires check fmt fmt-check vet lint arch bench soak torture torture-trees cluster cluster-torture tasks docs web pictures demo release release-check image-test clean

help: ## list these targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the static binary ./bin/lathe
	$(call say,build $(VERSION))
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/lathe ./cmd/lathe
	@ls -lh bin/lathe | awk '{print "    " $$NF, $$5}'

install: ## install lathe where go puts programs
	$(call say,install $(VERSION))
	@CGO_ENABLED=0 $(GO) install -trimpath -ldflags "$(LDFLAGS)" ./cmd/lathe

# Tests without the race detector are compiled as a release is, so that all of it is compiled once.
PLAIN = CGO_ENABLED=0 $(GO)

test: ## vet, then every test, shuffled; with the race detector where it can run
	@echo "==> language servers for tests, where a registry is reachable" && GO=$(GO) ./scripts/language-servers
	@echo "==> $(GO) vet ./..." && $(PLAIN) vet -trimpath ./...
	@why="$(NO_RACE)"; if [ -n "$$why" ]; then \
		echo "==> $(GO) test -shuffle=on ./..., without the race detector: $$why"; \
		CGO_ENABLED=0 $(TEST) ./...; \
	else \
		echo "==> $(GO) test -race -shuffle=on ./..." && \
		$(TEST) $(RACE) ./... && $(MAKE) --no-print-directory wires; \
	fi
	@$(MAKE) --no-print-directory release-check

quick: ## under a minute: unit and golden tests without the race detector, changed packages first
	@./scripts/quick

# With the race detector a transcript runs on one wire, attacks on the sandbox as one user, no memory is measured, and the arch tests
# do not run: they only read files, in a sixth of the time without it. This runs the rest.
wires: arch
	$(call say,transcripts on every wire$(comma) attacks as another user$(comma) memory of imports$(comma) faults in a cluster)
	@$(PLAIN) test -trimpath -vet=off -run '^Test(Transcripts|Turn_|Events_Property|Compact_TwoHundred)' ./engine
	@$(PLAIN) test -trimpath -vet=off -run '^TestEscape_AsUser$$' ./sandbox
	@$(PLAIN) test -trimpath -vet=off -run '^TestImport_Memory$$' ./cmd/lathe
	@LATHE_CAMPAIGN=short $(PLAIN) test -trimpath -vet=off -run '^TestCluster$$' ./scripts/cluster

check: fmt-check vet lint ## all that a change must pass: format, vet, staticcheck, arch test, race tests
	@why="$(NO_RACE)"; if [ -n "$$why" ]; then \
		echo "make check needs the race detector: $$why (make test does without)" >&2; exit 1; fi
	$(call say,test -race -shuffle=on)
	@$(TEST) $(RACE) ./...
	@$(MAKE) --no-print-directory wires

fmt: ## format all Go files
	@$(GO) tool gofumpt -w .

fmt-check:
	$(call say,gofumpt)
	@out=$$($(GO) tool gofumpt -l .) || exit 1; if [ -n "$$out" ]; then \
		printf 'not formatted, run "make fmt":\n%s\n' "$$out" >&2; exit 1; fi

vet:
	$(call say,vet)
	@$(GO) vet ./...

lint:
	$(call say,staticcheck)
	@$(GO) tool staticcheck ./...

arch: ## only the tests of layout, imports, sizes, documents and names
	$(call say,arch test)
	@$(PLAIN) test -trimpath -vet=off -run '^Test(Arch|Docs|Language)' .

bench: ## measure: Go benchmarks and the table of figures
	@./scripts/bench

# How many times, and which campaign: SEED=n repeats one.
KILLS ?= 1000
SEED  ?= 0
torture: ## kill a process that runs turns, KILLS=1000 times, and look whether all was kept
	@$(GO) run ./scripts/torture -kills $(KILLS) -seed $(SEED)

torture-trees: ## kill a process that makes, merges and drops worktrees, KILLS=200 times
	@LATHE_KILLS=$(if $(filter command line,$(origin KILLS)),$(KILLS),200) LATHE_SEED=$(SEED) $(GO) test ./harness/trees -run TestKill -v -count 1 -timeout 1h

# How many minutes faults happen. SEED=n repeats the same faults.
MINUTES ?= 5
cluster: build ## start three nodes with a PostgreSQL, NATS and S3 of their own, and move a turn between them; KEEP=1 leaves them running
	@$(GO) run ./scripts/cluster -lathe bin/lathe $(if $(KEEP),-keep) demo

cluster-torture: ## kill, stop and cut off the nodes of a cluster under load, MINUTES=5 long, and look whether all was kept
	@$(GO) run ./scripts/cluster -seed $(SEED) -for $(MINUTES)m torture

# How long turns run, how long the server rests then, and turns a second.
FOR  ?= 12m
REST ?= 5m
RATE ?= 38
soak: build ## memory of a server over thousands of turns and at rest; FOR=3m REST=1m is shorter
	@$(GO) run ./scripts/servebench -lathe bin/lathe -for $(FOR) -rest $(REST) -rate $(RATE) soak

tasks: build ## run recorded development tasks through the program: steps, bytes, failed calls, end checks
	@$(GO) run ./scripts/tasks -binary bin/lathe

web: ## build the web app in web/dist from web/src; needs Node for the packages and types
	$(call say,web app)
	@cd web && npm ci && node node_modules/typescript/bin/tsc -p . && $(GO) run -C build .

docs: ## write what of the documents is made from the code: the reference of settings
	$(call say,docs/settings.md)
	@$(GO) test ./config -run TestReference_Page -update >/dev/null

pictures: build ## draw the pictures of the documents, from real runs
	$(call say,docs/pictures)
	@$(GO) run ./scripts/picture -o docs/pictures/demo.svg -- bin/lathe demo
	@./scripts/screens
	@./scripts/editor-picture

release: ## build a release into dist: binaries, packages, checksums, SBOMs; publishes nothing
	@GO=$(GO) ./scripts/release

release-check: ## dry run of a release for this platform, with every artifact unpacked
	@GO=$(GO) ./scripts/release check

image-test: build ## make the container image's files with mmdebstrap and run a turn in them
	@./scripts/image-test

demo: ## watch a whole turn without a key and without a network
	@$(GO) run ./cmd/lathe demo

clean: ## remove what build made
	@rm -rf bin dist
