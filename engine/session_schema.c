/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/session_schema.h"

#include <string.h>
#include <unistd.h>

const char session_schema[] =
    "CREATE TABLE meta ( -- facts about the run; the keys are listed in engine/session.h\n"
    "    key TEXT PRIMARY KEY,\n"
    "    value TEXT NOT NULL\n"
    ") WITHOUT ROWID;\n"

    "CREATE TABLE strings ( -- names and paths, each once; the bytes as the kernel had them\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    text TEXT NOT NULL\n"
    ");\n"

    "CREATE TABLE modules ( -- programs and shared libraries that appear in stacks\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    path TEXT NOT NULL,\n"
    "    build_id TEXT NOT NULL -- hexadecimal, '' when it has none\n"
    ");\n"

    "CREATE TABLE stacks ( -- distinct call stacks\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    frames BLOB NOT NULL -- innermost first; each: module u32, flags u32, address u64\n"
    ");\n"

    "CREATE TABLE files ( -- every inode that the run met; the data directory is 1\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    kind INTEGER NOT NULL, -- 1 regular, 2 directory, 3 symbolic link, 4 fifo, 5 other\n"
    "    path TEXT NOT NULL -- where it was first seen, from the data directory\n"
    ");\n"

    "CREATE TABLE processes ( -- parent is another row's id, 0 for the first\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    pid INTEGER NOT NULL,\n"
    "    parent INTEGER NOT NULL\n"
    ");\n"

    "CREATE TABLE threads ( -- what events mean by thread\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    process INTEGER NOT NULL,\n"
    "    tid INTEGER NOT NULL\n"
    ");\n"

    "CREATE TABLE events ( -- the trace, in chunks of 1024 records\n"
    "    first INTEGER PRIMARY KEY, -- number of the chunk's first event\n"
    "    count INTEGER NOT NULL,\n"
    "    records BLOB NOT NULL -- zstd; struct event of engine/stream.h, differences by columns\n"
    ");\n"

    "CREATE TABLE packs ( -- the row of payload bytes, in packs of 256 KiB\n"
    "    number INTEGER PRIMARY KEY, -- from 0; position P is in pack P / 262144\n"
    "    size INTEGER NOT NULL,\n"
    "    bytes BLOB NOT NULL -- zstd\n"
    ");\n"

    "CREATE TABLE image_files ( -- what was in the data directory before the run\n"
    "    file INTEGER PRIMARY KEY,\n"
    "    kind INTEGER NOT NULL, -- as in files\n"
    "    mode INTEGER NOT NULL, -- permission bits\n"
    "    size INTEGER NOT NULL,\n"
    "    target TEXT -- of a symbolic link\n"
    ");\n"

    "CREATE TABLE image_names ( -- the directory entries of that image\n"
    "    dir INTEGER NOT NULL,\n"
    "    name TEXT NOT NULL,\n"
    "    file INTEGER NOT NULL,\n"
    "    PRIMARY KEY (dir, name)\n"
    ") WITHOUT ROWID;\n"

    "CREATE TABLE image_extents ( -- the data of that image; what no extent covers is a hole\n"
    "    file INTEGER NOT NULL,\n"
    "    offset INTEGER NOT NULL,\n"
    "    size INTEGER NOT NULL,\n"
    "    payload INTEGER NOT NULL, -- position in packs; 0: zeros\n"
    "    PRIMARY KEY (file, offset)\n"
    ") WITHOUT ROWID;\n"

    "CREATE TABLE notices ( -- what a reader of the trace must know, counted\n"
    "    kind TEXT NOT NULL,\n"
    "    what TEXT NOT NULL,\n"
    "    count INTEGER NOT NULL,\n"
    "    PRIMARY KEY (kind, what)\n"
    ") WITHOUT ROWID;\n"

    "CREATE TABLE symbols ( -- addresses looked up so far; depth 0 is the innermost inlined one\n"
    "    module INTEGER NOT NULL,\n"
    "    address INTEGER NOT NULL,\n"
    "    depth INTEGER NOT NULL,\n"
    "    function TEXT,\n"
    "    file TEXT,\n"
    "    line INTEGER,\n"
    "    PRIMARY KEY (module, address, depth)\n"
    ") WITHOUT ROWID;\n"

    "CREATE TABLE sources ( -- source text as it was when recorded\n"
    "    path TEXT PRIMARY KEY, -- as symbols has it\n"
    "    absolute TEXT NOT NULL, -- where it was found, links and dots resolved\n"
    "    mtime INTEGER NOT NULL, -- when it was last changed, seconds since 1970\n"
    "    hash TEXT NOT NULL, -- hexadecimal XXH3-128 of the text\n"
    "    text BLOB NOT NULL\n"
    ") WITHOUT ROWID;\n";

uint32_t session_header_number(const uint8_t header[SQLITE_HEADER_SIZE], int offset)
{
    const uint8_t *at = header + offset;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

enum header_kind session_header_kind(const uint8_t header[SQLITE_HEADER_SIZE])
{
    if (memcmp(header, SQLITE_MAGIC, sizeof SQLITE_MAGIC) != 0)
        return HEADER_FOREIGN;
    return session_header_number(header, SQLITE_HEADER_APPLICATION_ID) == SESSION_APPLICATION_ID
               ? HEADER_SESSION
               : HEADER_OTHER_SQLITE;
}

enum header_kind session_file_kind(int fd)
{
    uint8_t header[SQLITE_HEADER_SIZE];
    return pread(fd, header, sizeof header, 0) == sizeof header ? session_header_kind(header)
                                                                : HEADER_FOREIGN;
}
