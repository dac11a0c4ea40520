#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the system-call recorder gets right by itself it gets right around the store tracer: random
# calls by threads and processes, descriptors that travel, databases.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3
need_store_tracer

export RECORD_OPTIONS='--backend valgrind'
"$top/tests/real/stress.sh" 1 2
"$top/tests/real/descriptors.sh"
"$top/tests/real/replay.sh" leveldb sqlite-wal
