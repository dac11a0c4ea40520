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

# A call that holds its turn for long, as some do on a busy machine, leaves the order to a guess, and
# the trace says so: such a run proves nothing, and is made anew.
order_is_a_guess() {
    "$FLOTSAM" trace "$session" --json |
        jq -e 'any(.[]; .words | index("overlapped"))' >/dev/null
}
# Around the store tracer, on a busy machine, one run in some dozens was seen to differ for another
# reason, which is not known yet. One is let pass, and is to be seen in the output where the test
# fails after all; a second is not let pass.
unexplained=0
[[ ${RECORD_OPTIONS-} != *valgrind* ]] || unexplained=1
stress() { # SEED
    local attempt
    rm -rf "$scratch/begin"
    cp -a "$data" "$scratch/begin"
    for attempt in 1 2 3 4; do
        if (record_and_compare "$O/tests/real/stress" "$data" "$1"); then
            return
        fi
        order_is_a_guess || ((unexplained-- > 0)) ||
            fail "seed $1: it differs although the order is known"
        echo "seed $1: attempt $attempt proves nothing"
        rm -rf "$data"
        cp -a "$scratch/begin" "$data"
    done
    fail "seed $1: the order is never known"
}

if [ $# -eq 0 ]; then
    set -- 1 2 3 4
fi
last=${!#}
for seed; do
    if [ "$seed" != "$last" ] || [ $# -eq 1 ]; then
        rm -rf "$data"
        mkdir "$data"
    fi
    stress "$seed"
    has_events 5000+ true
    echo "seed $seed: the same"
done
