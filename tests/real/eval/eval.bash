# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the evaluation's commands share: the rows, recording one, checking it. From the environment:
# O, the build folder; JOBS, checkers at a time. Sessions and reports stay in $results, $O/eval;
# $work is removed at the end. $transactions, $budget and $label (of sessions) are the command's.
#
# not a test

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)
O=$(cd "$top" && realpath "${O:-build}")
FLOTSAM=${FLOTSAM:-$O/flotsam}
JOBS=${JOBS:-$(nproc)}
results=$O/eval
checker_timeout=60

memory=/dev/shm
[ "$(stat -f -c %T "$memory" 2>/dev/null)" = tmpfs ] || memory=${TMPDIR:-/tmp}
export O FLOTSAM            # for flotsam as a system
export PMEM_IS_PMEM_FORCE=1 # PMDK flushes cache lines, as on persistent memory
work=$(mktemp -d "$memory/flotsam-eval.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$results"

broken() {
    echo "eval: $*" >&2
    [ ! -s "$work/said" ] || cat "$work/said" >&2
    exit 2
}

wanted() { # SYSTEM SETTING PATTERN...
    local pattern
    (($# > 2)) || return 0
    for pattern in "${@:3}"; do
        # shellcheck disable=SC2053 # a pattern it is
        [[ $1/$2 == $pattern || $1 == $pattern ]] && return 0
    done
    return 1
}

# each_row COMMAND [PATTERN...]: calls it with the words before the first |, and the two columns
# after it, for each row whose SYSTEM/SETTING or SYSTEM matches a pattern.
each_row() {
    local command=$1 what integrity durability system setting found=0
    while IFS='|' read -r what integrity durability _ <&3; do
        read -r system setting _ <<<"$what"
        case $system in '#'* | '+' | '!' | '') continue ;; esac
        wanted "$system" "$setting" "${@:2}" || continue
        found=1
        "$command" "$what" "$integrity" "$durability"
    done 3<"$here/rows"
    [ $found = 1 ] || broken "no row is called like that: ${*:2}"
}

program() { # SYSTEM: built from C, or a script here
    local built=$O/tests/real/eval/$1
    if [ -x "$built" ]; then echo "$built"; else echo "$here/$1"; fi
}

# record SYSTEM SETTING BACKEND: to $session.
record() {
    local setting=${2%+new}
    session=$results/$1-$2-${label:?}.flotsam
    rm -rf "$work/data"
    mkdir "$work/data"
    if [ "$setting" = "$2" ]; then
        "$(program "$1")" setup "$setting" "${transactions:?}" "$work/data" >"$work/said" 2>&1 ||
            broken "cannot make a store for $1 $2"
    fi
    "$FLOTSAM" record -o "$session" --dir "$work/data" --backend "$3" -- \
        "$(program "$1")" workload "$setting" "$transactions" "$work/data" >"$work/said" 2>&1 ||
        broken "cannot record $1 $2"
    grep -q 'exited with status 0$' "$work/said" || broken "the workload of $1 $2 failed"
}

# check SYSTEM SETTING integrity|durability OPTION...: of $session; the report is $work/CHECKER.json.
# Integrity does not depend on what was acknowledged.
check() {
    local status=0 told=no
    [ "$3" = integrity ] || told=yes
    "$FLOTSAM" check "$session" --checker "$(program "$1") $3 ${2%+new} $transactions {dir}" \
        --acknowledgements $told --budget "${budget:?}" --jobs "$JOBS" --timeout "$checker_timeout" \
        "${@:4}" >"$work/said" 2>&1 || status=$?
    [ "$status" -le 1 ] || broken "the check of $1 $2 (${*:4}) ended with status $status"
    "$FLOTSAM" report "$session" --format json >"$work/$3.json"
}

# causes REPORT...: what the bugs are, in a form that two strategies agree on.
causes() {
    jq -r '.bugs[] | .cause' "$@" | sort -u
}
