# SPDX-License-Identifier: GPL-3.0-or-later
#
# How the samples are built: SAMPLE.c has the operations and the recovery, workload.c and check.c
# use it, and so do EXTRA programs. LIBS are linked to all of them. FIXED=1 leaves the mistake out;
# `make clean` when changing between the two.
CC       := cc
CFLAGS   := -g -O0 -Wall -Wextra $(if $(FIXED),-DFIXED)
PROGRAMS := workload check $(EXTRA)

all: $(PROGRAMS)
$(PROGRAMS): %: %.c $(SAMPLE).c $(SAMPLE).h $(wildcard ../*.h)
	$(CC) $(CFLAGS) -I.. -pthread -o $@ $< $(SAMPLE).c $(LIBS)
clean:
	rm -f $(PROGRAMS)
.PHONY: all clean
