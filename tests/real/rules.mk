# SPDX-License-Identifier: GPL-3.0-or-later
#
# The programs that the tests record: real ones on Debian's libraries, the stress program, the
# helper of the command-line tests and the benchmark's write loop. They are what flotsam looks at,
# not part of it, so they are built without its sanitizers and always with debug information.

REAL_C       := sqlite lmdb gdbm pmemobj descriptors
REAL_CXX     := leveldb rocksdb
# The evaluation on real systems (eval/rows): workloads and checkers.
EVAL_SYSTEMS := sqlite lmdb leveldb rocksdb wiredtiger pmdk
EVAL         := $(addprefix $(O)/tests/real/eval/,$(EVAL_SYSTEMS))

REAL         := $(EVAL) $(addprefix $(O)/tests/real/,$(REAL_C) $(REAL_CXX) leveldb-O0 leveldb_six stress \
                stores stores-static stores-bare) \
                $(O)/tests/cli/act $(O)/tests/bench/writes $(O)/tests/bench/stores $(O)/tests/bench/nothing
REAL_FLAGS   := -D_GNU_SOURCE -Wall -Wextra -Wshadow -g $(if $(WERROR),-Werror) -pthread
REAL_CFLAGS  := -std=c11 -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wvla -O1 $(REAL_FLAGS)
REAL_CXXFLAGS = -std=c++17 $(REAL_FLAGS)

LIBS_sqlite  := -lsqlite3
LIBS_lmdb    := -llmdb
LIBS_gdbm    := -lgdbm
LIBS_leveldb := -lleveldb
LIBS_rocksdb := -lrocksdb
LIBS_wiredtiger := -lwiredtiger
LIBS_pmemobj := -lpmemobj
LIBS_pmdk    := -lpmemobj
# libpmemobj's macros are GNU C.
FLAGS_pmemobj := -std=gnu11 -Wno-pedantic
FLAGS_pmdk    := $(FLAGS_pmemobj)

BENCHES      := record stores check scale ui

.PHONY: real eval compare bench $(addprefix bench-,$(BENCHES))
real: $(REAL)

$(O)/tests/real/stress: tests/real/stress.c tests/real/stress_actions.c tests/real/stress.h
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CC) $(REAL_CFLAGS) -o $@ $(filter %.c,$^)

# Also linked statically, and without debug information.
STORES_static := -static
STORES_bare   := -g0 -O2 -s
$(addprefix $(O)/tests/real/,stores stores-static stores-bare): tests/real/stores.c \
    tests/real/stores_instructions.c tests/real/stores.h
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CC) $(REAL_CFLAGS) $(STORES_$(patsubst stores-%,%,$(@F))) -o $@ $(filter %.c,$^)

$(addprefix $(O)/tests/real/,$(REAL_C)) $(O)/tests/cli/act $(O)/tests/bench/writes \
    $(O)/tests/bench/stores: $(O)/%: %.c
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CC) $(REAL_CFLAGS) $(FLAGS_$(@F)) -o $@ $< $(LIBS_$(@F))

$(addprefix $(O)/tests/real/,$(REAL_CXX)): $(O)/%: %.cc
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CXX) $(REAL_CXXFLAGS) -O2 -o $@ $< -l$(@F)

# The same without optimisation: stacks must be right in both.
$(O)/tests/real/leveldb-O0: tests/real/leveldb.cc
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CXX) $(REAL_CXXFLAGS) -O0 -o $@ $< -lleveldb

$(O)/tests/real/leveldb_six: tests/real/leveldb_six.cc
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CXX) $(REAL_CXXFLAGS) -O2 -o $@ $< -lleveldb

# Static where it can be: it is to take as little time as a process can.
$(O)/tests/bench/nothing: tests/bench/nothing.c
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CC) $(REAL_CFLAGS) -static -o $@ $< 2>/dev/null || $(CC) $(REAL_CFLAGS) -o $@ $<

$(EVAL): $(O)/%: %.c tests/real/eval/ledger.c tests/real/eval/ledger.h
	@mkdir -p $(@D)
	@echo "  program $@"
	$(Q)$(CC) $(REAL_CFLAGS) $(FLAGS_$(@F)) -o $@ $(filter %.c,$^) $(LIBS_$(@F))

eval: deps-test
	+@$(BUILD) all $(EVAL)
	@$(OUTSIDE) O=$(O) tests/real/eval/run $(ROWS)

compare: deps-test
	+@$(BUILD) all $(EVAL)
	@$(OUTSIDE) O=$(O) tests/real/eval/compare $(if $(ROWS),$(ROWS),--update README.md)

# All benches run, whichever fails.
bench: deps-test
	+@$(BUILD) all test-programs
	+@failed=; for b in $(BENCHES); do \
	    printf '\n== bench-%s\n' $$b; \
	    $(MAKE) --no-print-directory bench-$$b || failed="$$failed bench-$$b"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

bench-record: $(O)/flotsam $(O)/tests/real/leveldb $(O)/tests/bench/writes
	@O=$(O) tests/bench/record

bench-stores: $(O)/flotsam store-tool $(O)/tests/bench/stores $(O)/tests/real/pmemobj
	@O=$(O) tests/bench/trace_stores

bench-check: $(O)/flotsam $(O)/tests/real/leveldb_six $(O)/tests/bench/nothing
	@O=$(O) tests/bench/check $(MODEL)

# How analysis grows with the trace; part of flotsam, unlike the programs above.
$(O)/tests/bench/scale: $(O)/tests/bench/scale.o $(O)/tests/bench/made.o $(ARCHIVES)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

test-programs: $(O)/tests/bench/scale

bench-scale: $(O)/tests/bench/scale
	@$< $(MODEL)

# How long people wait for the debugger.
$(O)/tests/bench/ui: $(patsubst %,$(O)/tests/bench/%.o,ui ui_use ui_terminal made) $(O)/libtui.a $(ARCHIVES)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

test-programs: $(O)/tests/bench/ui

bench-ui: $(O)/tests/bench/ui $(O)/flotsam
	@PROGRAM=$(O)/flotsam $< $(EVENTS)
