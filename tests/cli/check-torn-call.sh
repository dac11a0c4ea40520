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
