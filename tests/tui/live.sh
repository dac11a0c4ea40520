#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A check from inside the debugger: started, halted, gone on with, ended; what it found is there,
# also when it was ended early, and it goes on where it was.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"
need jq

sample current
mv "$scratch/current.flotsam" "$place/session.flotsam"
check='cd {dir} && ../check .'
checker() { # COMMAND: what the session is checked with
    sqlite3 "$place/session.flotsam" "INSERT OR REPLACE INTO meta VALUES ('checker', '$1')"
}

shots_of() { # LINE...
    printf '%s\n' "$@" >"$scratch/live.script"
    walk "$scratch/live.script" --size 80x24
}
shot() { # NAME REGEX
    sed -n "/^=== $1\$/,/^--- /p" "$shots" | grep -qE "$2" ||
        fail "$1 does not show $2: $(sed -n "/^=== $1\$/,/^--- /p" "$shots")"
}

# Halted at once: nothing is waited for, other commands do their work, another check is refused.
# (A script waits for a check, but not for one that is halted: both by one line.)
checker "sleep 0.02; $check"
shots_of 'press X p' 'overview' 'shot halted' \
    'trace' 'go event:14' 'shot meanwhile' 'press X' 'shot refused' 'stop' 'overview' 'shot stopped'
shot halted 'paused'
shot meanwhile '^\|▸ *14 '
shot refused 'is running'
shot stopped 'checked +(not yet|[0-9]+ states tested)'
# Where it was halted before anything was tested, there is no table yet.
seen=$(sqlite3 "$place/session.flotsam" 'SELECT count(*) FROM verdicts' 2>/dev/null || echo 0)

# To the end: the script waits for it.
checker "$check"
shots_of check 'shot checked' 'bugs' 'shot bugs' 'overview' 'shot overview'
shot checked 'checked: [0-9]+ states, 2 bugs'
shot bugs '^\|▸ *1 +unpersisted'
shot bugs '^\| *2 +ordering'
shot overview '[0-9]+ states tested, 165 inconsistent'
[ "$(sqlite3 "$place/session.flotsam" 'SELECT count(*) FROM verdicts')" -gt "$seen" ] ||
    fail "no more verdicts than after the halted check"
"$FLOTSAM" bugs "$place/session.flotsam" --json >"$out"
[ "$(jq '.bugs | length' "$out")" = 2 ] || fail "the session does not have the bugs"

# Halted and gone on with: the same in the end.
shots_of 'model posix' 'press X p' 'shot halted' 'pause' 'shot on'
shot halted 'paused'
shot on 'checked: [0-9]+ states'

# What a command begins fails while it is waited for: the script ends there, and says so.
fails() { # MESSAGE LINE...: at the last line
    local message=$1
    shift
    printf '%s\n' "$@" 'dump screen -' >"$scratch/fails.script"
    (cd "$place" && run 2 "${limited[@]}" "$FLOTSAM" open session.flotsam \
        --script "$scratch/fails.script") || exit 1
    says "fails.script:$#: .*$message"
    [ ! -s "$out" ] || fail "the script went on after: ${*: -1}"
}
limited=()
fails 'checker not found.*nonesuch' overview 'check checker=./nonesuch {dir}'
checker './nonesuch {dir}'
fails 'checker not found.*nonesuch' 'press X'
fails 'checker not found.*nonesuch' 'go bug:1' open test
fails 'checker not found.*nonesuch' 'fix fsync 14' try
checker "$check"
# A file system that takes no more, in the midst of it.
limited=(bash -c 'trap "" XFSZ; ulimit -f 64; exec "$@"' limited)
fails 'cannot write copy.flotsam' "save copy.flotsam"
[ ! -e "$place/copy.flotsam" ] || fail "half a copy was left"
limited=()
# Until it has ended, the bar says that it is being stopped.
checker "sleep 1; $check"
shots_of "bind F5 dump screen $place/stopping" 'bind F6 stop' 'press X F6 F5'
grep -q '^ flotsam .* checking, stopping: [0-9]* states' "$place/stopping" ||
    fail "the bar does not say that the check is being stopped: $(cat "$place/stopping")"

# What is stopped has not failed, whether or not it had begun.
shots_of 'bind F5 stop' 'press X F5' 'press X p' stop unfix 'go bug:1' open 'press x F5' 'shot stopped'
shot stopped 'stopped before anything came of it'
checker "$check"

# A checker in quotes ends with them; one without is the rest of the line.
shots_of "check checker='exit 0 # {dir}' budget=7" 'shot quoted' \
    'check budget=5 checker=exit 0 # {dir} budget=3' 'shot rest'
shot quoted 'budget of 7'
shot rest 'budget of 5'

# What the checker said of the selected bug.
checker "$check"
shots_of check 'go bug:2' 'press o' 'shot said'
shot said 'is damaged'
shot said 'inconsistent: exit status 1'

# Under btrfs a sync carries names past others: their copies say what they are.
checker "$check"
shots_of 'check model=btrfs' 'bugs' 'why' 'shot copies'
shot copies 'carried +op [0-9]+ once more: a sync writes what it did'
