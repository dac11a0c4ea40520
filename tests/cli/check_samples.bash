# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the tests of `flotsam check` on the sample targets share: a variant of all of them is built,
# recorded and checked under every model, and what is found must be what the folder's `expected`
# says, no more and no less, by the states of representative behaviours and by all of them. A script
# sets $variant, buggy or fixed, and $stores, yes or no: which samples it is for. It sources this.
#
# Those with stores are checked under the models for stores that they are made for. One whose config
# has a budget has too many states to go through them all.
: "${variant:?}" "${stores:?}"
# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
need cc make jq sqlite3
[ "$stores" = no ] || need_store_tracer

models=(ext4 posix xfs btrfs ext4-paper strict)

# names LIST SORT MODEL: whether a list of models has the model, or else none of its sort at all.
all_files=' posix ext4 xfs btrfs ext4-paper strict '
all_stores=' px86 eadr pagecache '
names() {
    local name none=yes
    for name in ${1//,/ }; do
        [ "$name" != "$3" ] || return 0
        [[ $2 != *" $name "* ]] || none=no
    done
    [ "$none" = yes ]
}

# expected MODEL STORES: the bugs of the folder $folder, one a line: kind, what survived, what was
# lost; each of those a call, its function, the place of its marker, and a store's field.
expected() {
    local kind shows rest
    [ "$variant" = buggy ] || return 0
    while read -r kind shows rest; do
        case $kind in '#'* | '') continue ;; esac
        names "$shows" "$all_files" "$1" || continue
        names "$shows" "$all_stores" "$2" || continue
        # shellcheck disable=SC2086 # two times three or four words
        echo "$kind $(sites $rest)"
    done <"$folder/expected"
}

# sites CALL FUNCTION MARKER [FIELD]...: with the markers' places.
sites() {
    local found place words=()
    while [ $# -gt 0 ]; do
        place=-
        if [ "$3" != - ]; then
            found=$(cd "$folder" && grep -nF "/* bug:$3 */" -- *.c *.h) || fail "no marker $3"
            place=$(cut -d: -f1,2 <<<"$found")
        fi
        words+=("$1" "$2" "$place")
        if [ "$1" = store ]; then
            words+=("$4")
            shift
        fi
        shift 3
    done
    echo "${words[*]}"
}

# found: the same lines from the report of $session. What was lost of the surviving call itself
# says no more than the call.
found() {
    report | jq -r '
        def site: if . then "\(.call) \(.function) \(.file | sub(".*/"; "")):\(.line)" +
                      (if .call == "store" then " \(.field // "-")" else "" end)
                  else "- - -" end;
        .bugs[] | .survived[0] as $survived |
            "\(.kind) \($survived | site) " +
            ([.lost[] | select(.event != $survived.event)][0] | site)'
}

report() {
    sqlite3 "$session" 'SELECT json FROM report'
}

# check MODEL STORES STRATEGY BUDGET: checks the recording, which must find what is expected; $states
# has the counts. A verdict does not depend on the model or the strategy under which a state was met,
# so what earlier checks have said is used again.
check() {
    local status=0 said what
    what="$(basename "$folder") ($variant), $3 under $1 $2"
    timeout -k 5 120 "$FLOTSAM" check "$session" --checker "$folder/check {dir}" --model "$1" \
        --stores "${2:-auto}" --strategy "$3" --budget "$4" >"$out" 2>"$err" </dev/null || status=$?
    said=$(report | jq -r '.states | if .inconsistent > 0 then 1 else 0 end') || said=none
    [ "$status" = "$said" ] || fail "$what: status $status, and by its report $said"
    [ "$4" != 0 ] || [ "$(report | jq .states.complete)" = true ] ||
        fail "$what: cut short without a budget"
    expected "$1" "$2" | sort >"$scratch/expected"
    found | sort | diff "$scratch/expected" - || fail "$what: other bugs (>) than expected (<)"
    states=$(report | jq -r '.states | "\(.enumerated)/\(.distinct)/\(.inconsistent)"')
}

# check_under MODEL [STORES]: under eadr there is one state a store, so all are gone through; and
# since each store is durable at once, each would be a behaviour of its own.
check_under() {
    local few=- budget
    budget=$(setting "$folder" budget)
    states=-
    if [ "${2:-}" != eadr ]; then
        check "$1" "${2:-}" representative "${budget:-0}"
        few=$states states=-
    fi
    if [ -z "$budget" ] || [ "${2:-}" = eadr ]; then
        check "$1" "${2:-}" exhaustive 0
    fi
    printf '%-28s %20s %20s\n' "$(basename "$folder") $1 ${2:-}" "$few" "$states"
}

# The models that a sample is checked under: one for files is enough where nothing is written.
check_stores() {
    local model
    case $(setting "$folder" stores) in
    px86) check_under ext4 px86 && check_under ext4 eadr ;;
    pagecache) check_under ext4 pagecache ;;
    '') for model in "${models[@]}"; do check_under "$model" pagecache; done ;;
    esac
}

check_files() {
    local model
    for model in "${models[@]}"; do
        check_under "$model"
    done
}

wanted() {
    local is=no
    if is_store_sample "$1"; then is=yes; fi
    [ "$is" = "$stores" ]
}

cp -r "$top/tests/targets" "$scratch/targets"
printf '%-28s %20s %20s\n' 'enumerated/distinct/bad' representative exhaustive
samples=0
for config in "$scratch"/targets/*/flotsam.ini; do
    folder=$(dirname "$config")
    wanted "$folder" || continue
    run 0 make -s -C "$folder" clean
    run 0 make -s -C "$folder" FIXED="$([ "$variant" = buggy ] || echo 1)"
    rm -rf "$data"
    mkdir "$data"
    set_up "$folder" "$data"
    backend=$(setting "$folder" backend)
    run 0 "$FLOTSAM" record -o "$session" --dir "$data" \
        --backend "${backend:-auto}" -- "$folder/workload" "$data"
    if [ "$stores" = yes ]; then check_stores; else check_files; fi
    samples=$((samples + 1))
done
[ "$samples" -ge 8 ] || fail "only $samples samples"
