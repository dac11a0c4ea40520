#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A checker that was edited is another checker: verdicts of the old one are not taken for its own.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need sqlite3

record sh -c 'echo one >a; echo two >b'
check=$scratch/check-it

verdicts() {
    sqlite3 "$session" 'SELECT count(*) FROM verdicts'
}

# edited COMMAND: the checker, run by it, is known again while it stays the same, and no longer.
edited() {
    local known
    printf '#!/bin/sh\nexit 0\n' >"$check"
    chmod +x "$check"
    run 0 "$FLOTSAM" check "$session" --checker "$1"
    known=$(verdicts)
    run 0 "$FLOTSAM" check "$session" --checker "$1"
    [ "$(verdicts)" -eq "$known" ] || fail "$1: the same checker was not taken for the same"
    cat >"$check" <<'CHECK'
#!/bin/sh
[ -e "$1/b" ] || exit 0
echo no b wanted
exit 1
CHECK
    run 1 "$FLOTSAM" check "$session" --checker "$1"
    [ "$(verdicts)" -gt "$known" ] || fail "$1: the verdicts of the old checker were reused"
}

edited "$check {dir}"
# Found by PATH, and among other words of a shell.
export PATH=$scratch:$PATH
edited 'check-it {dir}'
edited 'cd /;(check-it {dir})&&true'
