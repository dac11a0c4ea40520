# SPDX-License-Identifier: GPL-3.0-or-later
#
# How the samples are built: SAMPLE.c has the operations and the recovery, workload.c and check.c
# use it. FIXED=1 leaves the mistake out; `make clean` when changing between the two.
CC     := cc
CFLAGS := -g -O0 -Wall -Wextra $(if $(FIXED),-DFIXED)

all: workload check
workload check: %: %.c $(SAMPLE).c $(SAMPLE).h $(wildcard ../*.h)
	$(CC) $(CFLAGS) -I.. -pthread -o $@ $< $(SAMPLE).c
clean:
	rm -f workload check
.PHONY: all clean
