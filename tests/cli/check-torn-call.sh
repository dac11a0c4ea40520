#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A state that has part of one call is said to be torn inside it: the rest of the call is lost, and
# the model that lets that happen is named. strict does not, and has no such bug.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

session=$scratch/torn.flotsam
mkdir -p "$scratch/data"
head -c 1000 /dev/zero | tr '\0' x >"$scratch/text"
cat >"$scratch/no-zeros" <<'EOF'
#!/bin/sh
[ ! -e "$1/log" ] || tr -d '\0' <"$1/log" | cmp -s - "$1/log"
EOF
chmod +x "$scratch/no-zeros"
run 0 "$FLOTSAM" record -o "$session" --dir "$scratch/data" -- \
    dd if="$scratch/text" of="$scratch/data/log" bs=1000 status=none
run 1 "$FLOTSAM" check "$session" --model ext4 --checker "$scratch/no-zeros {dir}"
run 0 "$FLOTSAM" bugs "$session" --json
jq -e '.bugs | length == 1' <"$out" >/dev/null || fail "not one bug"
jq -e '.bugs[0] | .kind == "atomicity" and (.lost | length == 1) and
       .lost[0].event == .survived[0].event and (.rule | test("under ext4 .* in part"))' \
    <"$out" >/dev/null || fail "the write is not said to be torn: $(jq -c '.bugs[0]' <"$out")"
run 0 "$FLOTSAM" check "$session" --model strict --checker "$scratch/no-zeros {dir}"

# So it is where recovery fails of that: no sync comes between the parts of a call.
cat >"$scratch/gives-up" <<'EOF'
#!/bin/sh
"${0%/*}/no-zeros" "$1" || exit 99
EOF
chmod +x "$scratch/gives-up"
run 1 "$FLOTSAM" check "$session" --model ext4 --checker "$scratch/gives-up {dir}"
run 0 "$FLOTSAM" bugs "$session" --json
jq -e '.bugs[0] | .kind == "recovery" and (.summary | test("^recovery fails after .* in part$")) and
       (.fix.text | test("cope with this state.*checksum") and (test("event") | not))' \
    <"$out" >/dev/null || fail "the words are wrong: $(jq -c '.bugs[0] | .summary, .fix' <"$out")"

# One cause does not hide the other: torn, and acknowledged too early.
rm -rf "$scratch/data" && mkdir "$scratch/data"
cat >"$scratch/both" <<'EOF'
#!/bin/sh
"${0%/*}/no-zeros" "$1" || exit 1
! grep -q saved "$FLOTSAM_STDOUT" || [ -s "$1/log" ]
EOF
chmod +x "$scratch/both"
run 0 "$FLOTSAM" record -o "$session" --dir "$scratch/data" -- \
    sh -c "dd if='$scratch/text' of='$scratch/data/log' bs=1000 status=none; echo saved"
run 1 "$FLOTSAM" check "$session" --model ext4 --checker "$scratch/both {dir}"
run 0 "$FLOTSAM" bugs "$session" --json
[ "$(jq -r '[.bugs[].kind] | sort | join(" ")' <"$out")" = 'atomicity unpersisted' ] ||
    fail "not both causes: $(jq -c '.bugs[] | .summary' <"$out")"

# Finding the cause among many lost ops takes few checkers.
rm -rf "$scratch/data" && mkdir "$scratch/data"
run 0 "$FLOTSAM" record -o "$session" --dir "$scratch/data" -- \
    sh -c "i=0; while [ \$i -lt 300 ]; do echo x >'$scratch/data'/\$i; i=\$((i + 1)); done; echo saved"
# shellcheck disable=SC2016 # the checker expands it
run 1 "$FLOTSAM" check "$session" --budget 3 --checker '! grep -q saved "$FLOTSAM_STDOUT" || test -s {dir}/299'
runs=$("$FLOTSAM" report "$session" | tr '\n' ' ' | sed -n 's/.*found by looking at \([0-9]*\) more states.*/\1/p')
[ "$runs" -lt 50 ] || fail "$runs checkers to find the cause among 900 ops"
