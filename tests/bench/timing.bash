# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What benchmarks of whole runs share: a folder in memory, $work, that is removed at the end; and
# runs whose wall times are kept, to compare their medians. $bench is the benchmark's name.
#
# not a test

memory=/dev/shm
[ "$(stat -f -c %T "$memory" 2>/dev/null)" = tmpfs ] || memory=${TMPDIR:-/tmp}
work=$(mktemp -d "$memory/flotsam-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

declare -A times=() # "WORKLOAD TOOL": milliseconds, one a run

# once WORKLOAD TOOL COMMAND...: one run in an empty directory.
once() {
    local key="$1 $2" begin end
    shift 2
    rm -rf "$work/data" "$work/trace"
    mkdir "$work/data"
    begin=$EPOCHREALTIME
    "$@" >"$work/out" 2>&1 || {
        cat "$work/out" >&2
        echo "${bench:?}: failed: $*" >&2
        exit 2
    }
    end=$EPOCHREALTIME
    times[$key]+=" $(((${end/[.,]/} - ${begin/[.,]/}) / 1000))"
}

median() { # WORKLOAD TOOL
    tr ' ' '\n' <<<"${times[$1 $2]}" | grep . | sort -n | awk '{ v[NR] = $1 }
        END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
