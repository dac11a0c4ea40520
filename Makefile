# flotsam: `make run` and `make test` do everything on a fresh Debian machine; `make help` says more.
# SPDX-License-Identifier: GPL-3.0-or-later

O       ?= build
V       ?= 0
prefix  ?= $(or $(PREFIX),/usr/local)
CFLAGS  ?= -O2 -g
Q       := $(if $(filter 1,$(V)),,@)
ifeq ($(origin CC),default)
CC      := gcc
endif

VERSION := 0.1

# What apt installs where something is missing: to build, and what the tests need besides.
BUILD_PACKAGES := make gcc g++ libc6-dev pkg-config libdw-dev libelf-dev libsqlite3-dev \
                  libncurses-dev libreadline-dev libgraphviz-dev libxxhash-dev libzstd-dev \
                  libseccomp-dev libjansson-dev libinih-dev libzydis-dev valgrind
TRUTH_PACKAGES := libfuse3-dev e2fsprogs xfsprogs btrfs-progs
TEST_PACKAGES  := $(BUILD_PACKAGES) libcmocka-dev clang libclang-rt-dev shellcheck git sqlite3 \
                  strace procps jq tmux graphviz mandoc libleveldb-dev librocksdb-dev liblmdb-dev \
                  libgdbm-dev libwiredtiger-dev libpmemobj-dev libpmem-dev $(TRUTH_PACKAGES)

LIBRARIES := libdw libelf sqlite3 libxxhash libzstd libseccomp jansson inih libgvc libcgraph \
             ncursesw readline
WARNINGS  := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
             -Wvla $(if $(WERROR),-Werror)
SANITIZE  := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

# Asked once, and only when something is compiled: pkg-config itself may have to be installed first.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(LIBRARIES)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(LIBRARIES)))$(PKG_LIBS)

ALL_CFLAGS  = -std=c11 -D_GNU_SOURCE -I. -DFLOTSAM_VERSION='"$(VERSION)"' $(WARNINGS) \
              $(PKG_CFLAGS) $(SANITIZE) -pthread $(CFLAGS)
ALL_LDFLAGS = $(SANITIZE) -pthread $(LDFLAGS)
# Debian's Zydis has no file for pkg-config.
LIBS        = $(PKG_LIBS) -lZydis -lstdc++ -lm

# One library a room; tui/ is the program.
ROOMS    := engine tracer views
OBJECTS   = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c))
ARCHIVES := $(O)/libviews.a $(O)/libtracer.a $(O)/libengine.a
UNIT     := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/*_test.c))
FUZZERS  := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/*_fuzz.c))
TOOLS    := $(patsubst %.c,$(O)/%,$(wildcard tests/*.c))

.SECONDARY:
.PHONY: all help run test unit fuzz fuzzers deps deps-test install uninstall clean test-programs
all: $(O)/flotsam store-tool

help:
	@printf '%s\n' \
	'make                 build $(O)/flotsam' \
	'make run             install what is missing, build, run the bundled sample' \
	'make test            install what is missing, build, run all tests; T="cli/ unit/log": only those' \
	'make unit            build and run the unit tests' \
	'make fuzz            run each fuzzer for FUZZ_SECONDS ($(FUZZ_SECONDS))' \
	'make bench           the five benchmarks that follow, one after the other' \
	'make bench-record    what recording costs, against native and strace' \
	'make bench-stores    what tracing stores costs, against native and other Valgrind tools' \
	'make bench-check     what checking costs: LevelDB, and states a second' \
	'make bench-scale     how time and memory grow from ten thousand events to a million' \
	'make bench-ui        how long keys wait in the debugger, on a session of a million events' \
	'make truth           the models against the real FS=ext4|xfs|btrfs, mounted with OPTS, SEEDS a program' \
	'make eval            real databases against what is documented; ROWS, SIZE=large, MODELS, BUDGET' \
	'make compare         states and bugs by strategy, on the same traces; puts the table into README.md' \
	'make deps            install the packages that building needs; deps-test: those of the tests too' \
	'make install         to $$(DESTDIR)$$(prefix), $(prefix); uninstall removes it again' \
	'make clean           remove $(O)/' \
	'' \
	'O=DIR builds elsewhere, V=1 shows commands, WERROR=1 makes warnings errors, CC=clang,' \
	'SAN=address,undefined builds with sanitizers (give it an O of its own).'

# ---- the program ----

$(O)/flotsam: $(call OBJECTS,tui) $(ARCHIVES)
	@echo "  link    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

define room
$(O)/lib$(1).a: $(call OBJECTS,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	$(Q)ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))

# The tracer of stores, where Valgrind is installed.
include tracer/valgrind/rules.mk

# The program without its main(), for unit tests.
$(O)/libtui.a: $(filter-out $(O)/tui/main.o,$(call OBJECTS,tui))
	@rm -f $@
	$(Q)ar rcs $@ $^

# The assembler reads these (tui/embed.h), which the compiler's list of dependencies does not know.
$(O)/tui/theme_files.o: $(wildcard themes/*.theme)
$(O)/tui/manual.o: tui/flotsam.1.in

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  cc      $<"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Changes when the compiler or its flags do, so that everything is rebuilt then.
.PHONY: force
$(O)/flags: force
	@mkdir -p $(@D)
	@{ pkg-config --exists $(LIBRARIES) && \
	    echo '#include <Zydis/Zydis.h>' | $(CC) -E - >/dev/null 2>&1; } || \
	    { echo 'Libraries are missing: make deps installs them' >&2; exit 1; }
	@printf '%s\n' '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS))' >$@

# ---- packages ----

deps:
	@.ci/packages $(BUILD_PACKAGES)
deps-test:
	@.ci/packages $(TEST_PACKAGES)

# ---- running ----

# Building starts in a make of its own, when the packages are there; on all cores unless -j says
# otherwise. What flotsam runs is not part of this make.
BUILD   = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
OUTSIDE := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL
SAMPLE  := tests/targets/current
# The sample has bugs: status 1 says that they were found.
run: deps
	+@$(BUILD) all
	@$(OUTSIDE) $(O)/flotsam run $(SAMPLE) -o $(O)/current.flotsam || [ $$? -eq 1 ]

# ---- tests ----

test: deps-test
	+@$(BUILD) all test-programs
	@$(OUTSIDE) O=$(O) tests/run $(T)

unit: $(UNIT)
	@$(OUTSIDE) O=$(O) tests/run unit/

test-programs: $(UNIT) $(TOOLS) $(if $(SAN),,fuzzers)

# What the models' tests share with those on real kernels.
$(O)/tests/unit/kernel_test: $(O)/tests/kernel/expected.o
$(O)/tests/unit/simulator_test: $(O)/tests/kernel/programs.o
$(O)/tests/unit/crash_test: $(O)/tests/kernel/crash.o $(O)/tests/kernel/disk.o

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libtui.a $(ARCHIVES)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) -lcmocka

$(TOOLS): $(O)/tests/%: $(O)/tests/%.o $(ARCHIVES)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# Programs that the tests record, and make bench-record.
-include tests/real/rules.mk
test-programs: $(REAL)

-include tests/kernel/rules.mk

# Fuzzers need clang and its runtime, and their own build of the engine.
FUZZ_SECONDS ?= 10
FUZZ_BUILD   := $(MAKE) --no-print-directory O=$(O)/fuzz CC=clang SAN=address,undefined \
                CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' FUZZ=1
fuzzers:
	+@if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null; \
	then $(FUZZ_BUILD) fuzz-programs; \
	else echo '  no fuzzers: clang or libclang-rt-dev is missing'; fi

ifdef FUZZ
.PHONY: fuzz-programs
fuzz-programs: $(FUZZERS)
$(FUZZERS): $(O)/%: $(O)/%.o $(ARCHIVES)
	$(Q)$(CC) -fsanitize=fuzzer $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
endif

fuzz: fuzzers
	@$(OUTSIDE) O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run fuzz/

# ---- installing ----

root       = $(DESTDIR)$(prefix)
COMPLETION = share/bash-completion/completions
MAN        = share/man/man1
DOC        = share/doc/flotsam
THEMES     = share/flotsam/themes
TOOLS_AT   = lib/flotsam/valgrind
THEME_FILES := $(wildcard themes/*.theme)

install: all
	install -d $(root)/bin $(root)/$(COMPLETION) $(root)/$(MAN) $(root)/$(DOC) $(root)/$(THEMES)
	install -m 755 $(O)/flotsam $(root)/bin/flotsam
	$(O)/flotsam completion bash >$(root)/$(COMPLETION)/flotsam
	$(O)/flotsam help --man >$(root)/$(MAN)/flotsam.1
	chmod 644 $(root)/$(COMPLETION)/flotsam $(root)/$(MAN)/flotsam.1
	install -m 644 LICENSE README.md $(root)/$(DOC)
	$(if $(THEME_FILES),install -m 644 $(THEME_FILES) $(root)/$(THEMES))
	if [ -x $(STORE_TOOL) ]; then install -d $(root)/$(TOOLS_AT) && \
	    install -m 755 $(STORE_TOOL) $(root)/$(TOOLS_AT) && \
	    cp -P $(addprefix $(dir $(STORE_TOOL)),default.supp vgpreload_core-amd64-linux.so) \
	        $(root)/$(TOOLS_AT); fi

# Folders that others share go only when they are empty and not the system's own.
uninstall:
	rm -f $(root)/bin/flotsam $(root)/$(COMPLETION)/flotsam $(root)/$(MAN)/flotsam.1
	rm -rf $(root)/$(DOC) $(root)/share/flotsam $(root)/lib/flotsam
	$(if $(DESTDIR)$(filter-out /usr /usr/local,$(prefix)), \
	    for d in bin lib $(COMPLETION) $(MAN) share/doc; do \
	        [ ! -d $(root)/$$d ] || (cd $(root) && rmdir -p --ignore-fail-on-non-empty $$d); done)

clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
