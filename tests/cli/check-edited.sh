#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A checker that was edited is another checker: verdicts of the old one are not taken for its own.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need sqlite3

record sh -c 'echo one >a; echo two >b'
check=$scratch/check
printf '#!/bin/sh\nexit 0\n' >"$check"
chmod +x "$check"
run 0 "$FLOTSAM" check "$session" --checker "$check {dir}"

# Seen again, nothing is run again: the checker is the same.
known=$(sqlite3 "$session" 'SELECT count(*) FROM verdicts')
run 0 "$FLOTSAM" check "$session" --checker "$check {dir}"
[ "$(sqlite3 "$session" 'SELECT count(*) FROM verdicts')" -eq "$known" ] ||
    fail 'the same checker was not taken for the same'

cat >"$check" <<'CHECK'
#!/bin/sh
[ -e "$1/b" ] || exit 0
echo no b wanted
exit 1
CHECK
run 1 "$FLOTSAM" check "$session" --checker "$check {dir}"
[ "$(sqlite3 "$session" 'SELECT count(*) FROM verdicts')" -gt "$known" ] ||
    fail 'the verdicts of the old checker were reused'
