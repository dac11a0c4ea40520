/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session_schema: what a session file holds. It is an SQLite database with these marks:
 *
 *   application_id  SESSION_APPLICATION_ID, by which file(1) and we know it
 *   user_version    SESSION_FORMAT, raised when an older flotsam could no longer read it
 *
 * The tables are in session_schema below; their comments are part of the SQL, so that `.schema` in
 * the sqlite3 shell shows them. Numbers begin at 1, and 0 means none.
 *
 * Event records and payload bytes are kept in blocks, each one zstd frame with a checksum and its
 * content size (engine/session_block.h). Event N is in the chunk whose first event is
 * (N − 1) / EVENTS_PER_CHUNK * EVENTS_PER_CHUNK + 1. Payload bytes form one long row cut in packs:
 * position P is byte P % PACK_SIZE of pack P / PACK_SIZE. A payload may span packs. Position 0 is
 * not used, because it stands for zeros. Every chunk and pack but the last is full. All binary
 * numbers are little-endian.
 */
#ifndef ENGINE_SESSION_SCHEMA_H
#define ENGINE_SESSION_SCHEMA_H

#include <stdint.h>

enum {
    SESSION_APPLICATION_ID = 0x464c5453, /* "FLTS" */
    SESSION_FORMAT = 1,
    EVENTS_PER_CHUNK = 1024, /* 136 KiB: compresses well, and one event costs one small read */
    PACK_SIZE = 256 * 1024,  /* likewise for payloads, of which most are a few KiB */
};

/* Where the marks are in SQLite's file header (sqlite.org/fileformat2.html), big-endian. */
enum {
    SQLITE_HEADER_SIZE = 100,
    SQLITE_HEADER_PAGE_SIZE = 16,  /* 2 bytes; 1 means 65536 */
    SQLITE_HEADER_PAGE_COUNT = 28, /* 4 bytes */
    SQLITE_HEADER_USER_VERSION = 60,
    SQLITE_HEADER_APPLICATION_ID = 68,
};
#define SQLITE_MAGIC "SQLite format 3" /* with its NUL, the first 16 bytes */

/* All CREATE statements, for sqlite3_exec(). */
extern const char session_schema[];

/* What the header of a file says it is. */
enum header_kind { HEADER_FOREIGN, HEADER_OTHER_SQLITE, HEADER_SESSION };
enum header_kind session_header_kind(const uint8_t header[SQLITE_HEADER_SIZE]);

/* The same of an open file; one too short for a header is foreign. */
enum header_kind session_file_kind(int fd);

uint32_t session_header_number(const uint8_t header[SQLITE_HEADER_SIZE], int offset);

#endif
