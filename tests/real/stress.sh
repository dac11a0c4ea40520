#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Ten thousand random calls by six threads in two processes, for a few seeds; the last one begins
# with the tree that the one before left.
#
#     stress.sh [SEED...]
# timeout: 600
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need sqlite3 jq

if [ $# -eq 0 ]; then
    set -- 1 2 3 4
fi
last=${!#}
for seed; do
    if [ "$seed" != "$last" ] || [ $# -eq 1 ]; then
        rm -rf "$data"
        mkdir "$data"
    fi
    record_and_compare "$O/tests/real/stress" "$data" "$seed"
    has_events 5000+ true
    echo "seed $seed: the same"
done
