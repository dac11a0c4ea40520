# flotsam: `make run` and `make test` do everything on a fresh Debian machine; `make help` says more.
# SPDX-License-Identifier: GPL-3.0-or-later

O       ?= build
V       ?= 0
prefix  ?= /usr/local
CC      ?= gcc
CFLAGS  ?= -O2 -g
Q       := $(if $(filter 1,$(V)),,@)

VERSION := 0.1

LIBRARIES := libdw libelf sqlite3 libxxhash libzstd libseccomp jansson inih
WARNINGS  := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
             -Wvla $(if $(WERROR),-Werror)
SANITIZE  := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

ALL_CFLAGS  = -std=c11 -D_GNU_SOURCE -I. -DFLOTSAM_VERSION='"$(VERSION)"' $(WARNINGS) \
              $(shell pkg-config --cflags $(LIBRARIES)) $(SANITIZE) -pthread $(CFLAGS)
ALL_LDFLAGS = $(SANITIZE) -pthread $(LDFLAGS)
LIBS        = $(shell pkg-config --libs $(LIBRARIES)) -lstdc++

# One library a room; tui/ is the program.
ROOMS   := engine tracer views
OBJECTS  = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c))
ARCHIVES := $(patsubst %,$(O)/lib%.a,$(ROOMS))
UNIT    := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/*_test.c))

.PHONY: all unit clean
all: $(O)/flotsam

$(O)/flotsam: $(call OBJECTS,tui) $(O)/libviews.a $(O)/libtracer.a $(O)/libengine.a
	@echo "  link    $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

define room
$(O)/lib$(1).a: $(call OBJECTS,$(1))
	@rm -f $$@
	$(Q)ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))

$(O)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  cc      $<"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libviews.a $(O)/libtracer.a $(O)/libengine.a
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

unit: $(UNIT)
	@for t in $(UNIT); do $$t || exit 1; done

clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
