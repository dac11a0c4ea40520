#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A git repository in DIR: commits, branches, a merge, a tag, a symbolic link, gc. A second run
# goes on with the repository that is there.
#
#     git.bash DIR
set -euo pipefail

cd "$1"
export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 LC_ALL=C TZ=UTC GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=Author GIT_AUTHOR_EMAIL=author@example.org
export GIT_COMMITTER_NAME=Author GIT_COMMITTER_EMAIL=author@example.org
export GIT_AUTHOR_DATE='2024-01-02T03:04:05Z' GIT_COMMITTER_DATE='2024-01-02T03:04:05Z'

first=0
if [ -d .git ]; then
    first=$(git rev-list --count HEAD)
else
    git -c init.defaultBranch=main init --quiet
    git config gc.autoDetach false
fi

for ((i = first; i < first + 8; i++)); do
    mkdir -p "src/part$((i % 3))"
    printf 'line %d\n' $(seq $((i * 40))) "$i" >"src/part$((i % 3))/file$i"
    printf 'commit %d\n' "$i" >>log
    git add .
    git commit --quiet -m "Commit $i"
done

git checkout --quiet -b "topic$first"
ln -sf src/part0 "link$first"
chmod +x log
git add .
git commit --quiet -m "A link and a mode"
git checkout --quiet main
git mv log "log$first"
git commit --quiet -m "A rename"
git merge --quiet --no-edit "topic$first"
git tag -a "v$first" -m "A tag"
git branch --quiet -d "topic$first"
git gc --quiet --prune=now
git fsck --strict --no-progress
