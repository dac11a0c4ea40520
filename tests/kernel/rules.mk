# SPDX-License-Identifier: GPL-3.0-or-later
#
# make truth: the litmus programs and random ones on a real file system, against its model. Wants
# root, FUSE and loop devices, and says so where they are missing.
#
#     make truth FS=xfs SEEDS=100
#     make truth FS=ext4 OPTS=noauto_da_alloc PROGRAMS=tests/litmus/rename-over.litmus RANDOM=0

FS       ?= ext4
OPTS     ?=
SEEDS    ?= 30
RANDOM   ?= 240
PROGRAMS ?= $(sort $(wildcard tests/litmus/*.litmus))

TRUTH         := $(O)/tests/kernel/truth
TRUTH_OBJECTS := $(call OBJECTS,tests/kernel)
TRUTH_CFLAGS   = $(shell pkg-config --cflags fuse3 2>/dev/null)

$(O)/tests/kernel/server.o: ALL_CFLAGS += $(TRUTH_CFLAGS)

$(TRUTH): $(TRUTH_OBJECTS) $(ARCHIVES)
	@echo "  link    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) $$(pkg-config --libs fuse3)

# Where libfuse is missing the test says that it was skipped.
ifeq ($(shell pkg-config --exists fuse3 2>/dev/null && echo yes),yes)
test-programs: $(TRUTH)
endif

.PHONY: truth truth-build
truth-build: $(TRUTH)
truth:
	@.ci/packages $(BUILD_PACKAGES) $(TRUTH_PACKAGES)
	+@$(BUILD) truth-build
	@$(OUTSIDE) $(TRUTH) --fs '$(FS)' --options '$(OPTS)' --seeds '$(SEEDS)' --random '$(RANDOM)' \
	    $(PROGRAMS)
