#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# flotsam export: the parts of graphs in every format; dot and a browser can read what comes out,
# whatever names are in it.
# timeout: 300
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need dot jq

# is_format FORMAT FILE: it is what it says.
is_format() {
    case $1 in
    dot) dot -Tsvg "$2" -o "$scratch/dot.svg" 2>"$err" && [ ! -s "$err" ] &&
        grep -q '</svg>' "$scratch/dot.svg" ;;
    svg) grep -q '^<svg ' "$2" && grep -q '^</svg>' "$2" &&
        { ! command -v xmllint >/dev/null || xmllint --noout --nonet "$2" 2>/dev/null; } ;;
    png) [ "$(head -c 8 "$2" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] ;;
    json) jq -e '.version == 1 and (.nodes | length) > 0 and
        ([.nodes[].node] == [range(.nodes | length)]) and
        all(.nodes[]; (.type | IN("op", "sync", "print")) and has("event") and has("call") and
            has("path") and has("function") and has("line") and (.stack | type) == "array") and
        ((.nodes | length) as $n | all(.edges[]; .from < .to and .to < $n and
            (.type | IN("rule", "durable", "after", "next", "missing"))))' "$2" >/dev/null ;;
    esac || fail "not as $1 has to be: $2"
}

# Every part of one sample in every format, and a bug of every sample as dot and as svg.
cp -r "$top/tests/targets" "$scratch/targets"
for config in "$scratch"/targets/*/flotsam.ini; do
    folder=$(dirname "$config")
    ! is_store_sample "$folder" || continue
    s=$scratch/$(basename "$folder").flotsam
    rm -rf "$folder/data"
    run 1 "$FLOTSAM" run "$folder" --batch -o "$s"
    parts=(bug:1) formats=(dot svg)
    if [ "$(basename "$folder")" = wal ]; then
        parts=(graph behaviour:1 group:0 bug:1 op:3) formats=(dot svg png json)
    fi
    for what in "${parts[@]}"; do
        for format in "${formats[@]}"; do
            run 0 "$FLOTSAM" export "$s" --what "$what" --format "$format" -o "$scratch/picture"
            [ ! -s "$out" ] || fail "something was printed"
            is_format "$format" "$scratch/picture"
        done
    done
done
for format in dot svg png json; do
    run 0 "$FLOTSAM" export "$s" --format "$format" -o "$scratch/picture"
    run 0 "$FLOTSAM" export "$s" --format "$format"
    cmp -s "$out" "$scratch/picture" || fail "printed is not as written: $format"
done

# A bug's picture: what was lost and what survived are told apart, also without colour.
s=$scratch/current.flotsam
bug=$(jq '[.bugs[] | select(.kind == "ordering")][0].id' <("$FLOTSAM" bugs "$s" --json))
run 0 "$FLOTSAM" export "$s" --what "bug:$bug" --format json
jq -e 'any(.nodes[]; .culprit and .state == "lost" and .call == "write") and
       any(.nodes[]; .culprit and .state == "persisted" and .call == "rename") and
       any(.edges[]; .type == "missing") and .model == "ext4" and (.title | startswith("bug "))' \
    "$out" >/dev/null || fail "the bug's nodes are not marked"
run 0 "$FLOTSAM" export "$s" --what "bug:$bug"
prints 'style="filled,dashed"'
prints 'persisted: solid'
prints 'write 0.6'
prints 'store.c:[0-9]'
prints 'cluster[0-9]'
prints 'behaviour [0-9]+: '
prints 'model ext4'
prints 'nothing orders these'

# An acknowledgement is a node, too.
bug=$(jq '[.bugs[] | select(.kind == "unpersisted")][0].id' <("$FLOTSAM" bugs "$s" --json))
run 0 "$FLOTSAM" export "$s" --what "bug:$bug" --format json
jq -e 'any(.nodes[]; .type == "print" and .culprit)' "$out" >/dev/null || fail "nothing was told"

# The format goes by the file's suffix; a file is replaced as a whole.
for suffix in dot gv svg png json; do
    run 0 "$FLOTSAM" export "$s" --what bug:1 -o "$scratch/a.b.$suffix"
    is_format "${suffix/gv/dot}" "$scratch/a.b.$suffix"
done
run 2 "$FLOTSAM" export "$s" -o "$scratch/picture.jpg"
says 'does not say the format'
[ ! -e "$scratch/picture.jpg" ] || fail "a file was left"
run 2 "$FLOTSAM" export "$s" -o "$scratch/none/picture.svg"
says 'cannot write the graph to .*No such file'

# What is left out is said, in the picture and on standard error.
run 0 "$FLOTSAM" export "$s" --limit 5
says 'ops are left out: more than --limit 5'
prints 'ops are left out'
run 0 "$FLOTSAM" export "$s" --limit 5 --format json
jq -e '.left_out > 0 and ([.nodes[] | select(.type == "op")] | length) == 5' "$out" >/dev/null ||
    fail "not five ops"
run 0 "$FLOTSAM" export "$s" --format json
few=$(jq '.edges | length' "$out")
run 0 "$FLOTSAM" export "$s" --format json --transitive
[ "$(jq '[.edges[] | select(.transitive | not)] | length' "$out")" = "$few" ] ||
    fail "--transitive changed other edges"
[ "$(jq '[.edges[] | select(.transitive)] | length' "$out")" -gt 0 ] || fail "nothing was implied"

# Usage.
run 2 "$FLOTSAM" export "$s" --what behaviour:9999
says 'no behaviour 9999; flotsam behaviours lists'
run 2 "$FLOTSAM" export "$s" --what group:9999
says 'no group 9999; flotsam groups lists'
run 2 "$FLOTSAM" export "$s" --what bug:9999
says 'no bug 9999; flotsam bugs lists'
run 2 "$FLOTSAM" export "$s" --what bug:99999999999
run 2 "$FLOTSAM" export "$s" --what op:9999999
says 'no op 9999999'
for what in bug: bug:x bug:-1 bug:1x bugs graph:1 ''; do
    run 2 "$FLOTSAM" export "$s" --what "$what"
done
run 2 "$FLOTSAM" export "$s" --format pdf
run 2 "$FLOTSAM" export "$s" --limit 0
run 2 "$FLOTSAM" export "$scratch/none.flotsam"
run 2 "$FLOTSAM" export "$s" "$s"
record sh -c 'echo 1 >a'
run 2 "$FLOTSAM" export "$session" --what bug:1
says 'not been checked yet'

# Names that say something to dot, to HTML, to a terminal, or nothing to anybody.
# shellcheck disable=SC2016 # for the recorded shell
record sh -c 'for name in "<B>&amp;\"\N\\" "a	b\"];x->y" "$(printf "\033[31m\377\n.")" "$(printf "%0200d" 7)" "漢é"; do
    echo 1 >"$name" && mv "$name" "$name.2"; done'
for locale in C.UTF-8 C; do
    for format in dot svg png json; do
        LC_ALL=$locale run 0 "$FLOTSAM" export "$session" --format "$format" -o "$scratch/odd"
        is_format "$format" "$scratch/odd"
        if [ "$format" != png ] &&
            LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$scratch/odd"; then
            fail "control characters came through: $format"
        fi
    done
done
run 0 "$FLOTSAM" export "$session" --format svg
grep -qF '&lt;B&gt;&amp;amp;&quot;\N' "$out" || fail "the name is not shown as it is"
prints '\\x1b\[31m'
prints '漢é'
prints '00…0'

# A locale with a comma for a point changes nothing.
if [[ $(locale -a 2>/dev/null) == *de_DE.utf* ]]; then
    LC_ALL=de_DE.UTF-8 run 0 "$FLOTSAM" export "$session" --format svg -o "$scratch/comma"
    cmp -s "$out" "$scratch/comma" || fail "the locale's numbers are in the picture"
fi
