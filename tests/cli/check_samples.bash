# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the tests of `flotsam check` on the sample targets share: a variant of all of them that write
# to files is built, recorded and checked under every model, and what is found must be what the folder's `expected`
# says, no more and no less, by the states of representative behaviours and by all of them. A script
# sets $variant, buggy or fixed, and sources this.
: "${variant:?}"
# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
need cc make jq sqlite3

models=(ext4 posix xfs btrfs ext4-paper strict)

# expected MODEL: the bugs of the folder $folder, one a line: kind, what survived, what was lost;
# each of those a call, its function, and the place of its marker.
expected() {
    local kind shows rest
    [ "$variant" = buggy ] || return 0
    while read -r kind shows rest; do
        case $kind in '#'* | '') continue ;; esac
        [[ ",$shows," == *",$1,"* || $shows = all ]] || continue
        # shellcheck disable=SC2086 # two times three words
        echo "$kind $(sites $rest)"
    done <"$folder/expected"
}

# sites CALL FUNCTION MARKER...: with the markers' places.
sites() {
    local found place words=()
    while [ $# -gt 0 ]; do
        place=-
        if [ "$3" != - ]; then
            found=$(cd "$folder" && grep -nF "/* bug:$3 */" -- *.c *.h) || fail "no marker $3"
            place=$(cut -d: -f1,2 <<<"$found")
        fi
        words+=("$1" "$2" "$place")
        shift 3
    done
    echo "${words[*]}"
}

# found: the same lines from the report of $session. What was lost of the surviving call itself
# says no more than the call.
found() {
    report | jq -r '
        def site: if . then "\(.call) \(.function) \(.file | sub(".*/"; "")):\(.line)"
                  else "- - -" end;
        .bugs[] | .survived[0] as $survived |
            "\(.kind) \($survived | site) " +
            ([.lost[] | select(.event != $survived.event)][0] | site)'
}

report() {
    sqlite3 "$session" 'SELECT json FROM report'
}

# check MODEL STRATEGY: checks a fresh copy of the recording, which must find what is expected;
# $states has the counts.
check() {
    local status=0 said what
    what="$(basename "$folder") ($variant), $2 under $1"
    cp "$folder/recorded.flotsam" "$session"
    timeout -k 5 120 "$FLOTSAM" check "$session" --checker "$folder/check {dir}" --model "$1" \
        --strategy "$2" --budget 0 >"$out" 2>"$err" </dev/null || status=$?
    said=$(report | jq -r '.states | if .inconsistent > 0 then 1 else 0 end') || said=none
    [ "$status" = "$said" ] || fail "$what: status $status, and by its report $said"
    [ "$(report | jq .states.complete)" = true ] || fail "$what: cut short without a budget"
    expected "$1" | sort >"$scratch/expected"
    found | sort | diff "$scratch/expected" - || fail "$what: other bugs (>) than expected (<)"
    states=$(report | jq -r '.states | "\(.enumerated)/\(.distinct)/\(.inconsistent)"')
}

check_under() {
    local few
    check "$1" representative
    few=$states
    check "$1" exhaustive
    printf '%-28s %20s %20s\n' "$(basename "$folder") $1" "$few" "$states"
}

cp -r "$top/tests/targets" "$scratch/targets"
printf '%-28s %20s %20s\n' 'enumerated/distinct/bad' representative exhaustive
samples=0
for config in "$scratch"/targets/*/flotsam.ini; do
    folder=$(dirname "$config")
    ! is_store_sample "$folder" || continue
    run 0 make -s -C "$folder" clean
    run 0 make -s -C "$folder" FIXED="$([ "$variant" = buggy ] || echo 1)"
    rm -rf "$data"
    mkdir "$data"
    run 0 "$FLOTSAM" record -o "$folder/recorded.flotsam" --dir "$data" -- \
        "$folder/workload" "$data"
    for model in "${models[@]}"; do
        check_under "$model"
    done
    samples=$((samples + 1))
done
[ "$samples" -ge 9 ] || fail "only $samples samples"
