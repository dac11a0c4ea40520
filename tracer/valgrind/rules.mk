# SPDX-License-Identifier: GPL-3.0-or-later
#
# The store tracer: a Valgrind tool, built out of tree against the headers and static libraries of
# the installed package. It relies on things that are in no header for tools (decode.c), so only
# the version it was written for will do; without that everything else is built, and `flotsam
# doctor` says what is missing.

VALGRIND_WANTED  := valgrind-3.19.0
VALGRIND_INCLUDE ?= /usr/include/valgrind
VALGRIND_LIBS    ?= /usr/lib/x86_64-linux-gnu/valgrind
VALGRIND_EXEC    ?= /usr/libexec/valgrind
VALGRIND_FOUND   := $(shell valgrind --version 2>/dev/null </dev/null)

VALGRIND_PARTS   := coregrind vex gcc-sup
VALGRIND_ARCHIVES := $(VALGRIND_PARTS:%=$(VALGRIND_LIBS)/lib%-amd64-linux.a)
VALGRIND_LACKS   := $(if $(filter $(VALGRIND_WANTED),$(VALGRIND_FOUND)), \
                        $(filter-out $(wildcard $(VALGRIND_ARCHIVES)),$(VALGRIND_ARCHIVES)) \
                        $(if $(wildcard $(VALGRIND_INCLUDE)/pub_tool_tooliface.h),,its headers), \
                        $(VALGRIND_WANTED) itself$(if $(VALGRIND_FOUND), (this is $(VALGRIND_FOUND))))

STORE_TOOL    := $(O)/valgrind/flotsam-amd64-linux
TOOL_OBJECTS  := $(patsubst %.c,$(O)/%.o,$(wildcard tracer/valgrind/*.c))
# A tool has no C library, and no code that needs one.
TOOL_CFLAGS   := -O2 -g -std=gnu99 -Wall -Wextra $(if $(WERROR),-Werror) -fno-stack-protector \
                 -fno-strict-aliasing -fno-builtin -fomit-frame-pointer -fno-pie \
                 -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 \
                 -I. -isystem $(VALGRIND_INCLUDE)
TOOL_WRAPS    := disInstr_AMD64 amd64g_dirtyhelper_CPUID_avx2 \
                 amd64g_dirtyhelper_CPUID_avx_and_cx16 \
                 vgModuleLocal_read_debuginfo_dwarf3 vgModuleLocal_new_dwarf3_reader
TOOL_LDFLAGS  := -static -nodefaultlibs -nostartfiles -u _start \
                 -Wl,-Ttext-segment=0x58000000 -Wl,--build-id=none $(TOOL_WRAPS:%=-Wl,--wrap=%)

.PHONY: store-tool
ifeq ($(strip $(VALGRIND_LACKS)),)
store-tool: $(STORE_TOOL)
else
store-tool:
	@rm -f $(STORE_TOOL)
	@echo '  no store tracer (record --backend valgrind): it lacks $(strip $(VALGRIND_LACKS));' \
	    'apt install valgrind on Debian 12'
endif

$(TOOL_OBJECTS): $(O)/%.o: %.c tracer/valgrind/rules.mk
	@mkdir -p $(@D)
	@echo "  tool    $<"
	$(Q)$(CC) $(TOOL_CFLAGS) -MMD -MP -c -o $@ $<

# Valgrind looks for these two beside the tool.
$(STORE_TOOL): $(TOOL_OBJECTS)
	@mkdir -p $(@D)
	@echo "  link    $@"
	$(Q)$(CC) $(TOOL_LDFLAGS) -o $@ $(TOOL_OBJECTS) $(VALGRIND_ARCHIVES) -lgcc
	$(Q)ln -sf $(VALGRIND_EXEC)/default.supp $(VALGRIND_EXEC)/vgpreload_core-amd64-linux.so $(@D)
