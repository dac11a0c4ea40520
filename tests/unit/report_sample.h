/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reports for tests, written with ' for ". One bug of each kind.
 */
#ifndef TESTS_UNIT_REPORT_SAMPLE_H
#define TESTS_UNIT_REPORT_SAMPLE_H

#include <jansson.h>
#include <stdlib.h>

#include "engine/mem.h"

/* set_current() renames CURRENT over before the manifest that it names is durable. */
#define SAMPLE_RENAME                                                                              \
    "{'op': 9, 'event': 14, 'call': 'rename', 'kind': 'name', 'path': 'CURRENT.new',"              \
    " 'other_path': 'CURRENT', 'offset': 0, 'size': 0, 'function': 'set_current',"                 \
    " 'file': '/src/store.c', 'line': 41, 'stack': ["                                              \
    "  {'function': 'rename', 'file': '', 'line': 0},"                                             \
    "  {'function': 'set_current', 'file': '/src/store.c', 'line': 41},"                           \
    "  {'function': 'main', 'file': '/src/workload.c', 'line': 12}]}"
#define SAMPLE_WRITE                                                                               \
    "{'op': 5, 'event': 9, 'call': 'write', 'kind': 'data', 'path': 'manifest-2', 'offset': 0,"    \
    " 'size': 64, 'function': 'write_manifest', 'file': '/src/store.c', 'line': 23, 'stack': ["    \
    "  {'function': 'write', 'file': '', 'line': 0},"                                              \
    "  {'function': 'write_manifest', 'file': '/src/store.c', 'line': 23},"                        \
    "  {'function': 'main', 'file': '/src/workload.c', 'line': 11}]}"
#define SAMPLE_LENGTH                                                                              \
    "{'op': 6, 'event': 9, 'call': 'write', 'kind': 'size', 'path': 'manifest-2', 'offset': 0,"    \
    " 'size': 64, 'function': 'write_manifest', 'file': '/src/store.c', 'line': 23, 'stack': []}"
#define SAMPLE_PRINT                                                                               \
    "{'event': 20, 'call': 'print', 'path': '', 'offset': 0, 'size': 6, 'text': 'saved\\n',"       \
    " 'function': 'main', 'file': '/src/workload.c', 'line': 14, 'stack': ["                       \
    "  {'function': 'main', 'file': '/src/workload.c', 'line': 14}]}"

#define SAMPLE_ORDERING                                                                            \
    "{'id': 1, 'kind': 'ordering', 'summary': 'CURRENT.new renamed to CURRENT, manifest-2 not"     \
    " written', 'lost': [" SAMPLE_WRITE "], 'survived': [" SAMPLE_RENAME "],"                      \
    " 'rule': 'no sync of manifest-2 has returned by then; under ext4 names do not wait for what"  \
    " is written to files', 'fix': 'fdatasync(manifest-2) after event 9, write_manifest"           \
    " store.c:23 and before event 14, set_current store.c:41',"                                    \
    " 'behaviour': {'id': 3, 'name': 'set_current', 'group': 2}, 'states': 14, 'status': 'new',"   \
    " 'crash_event': 15, 'told': 'opened\\n', 'checker': {'exit': 1, 'signal': null,"              \
    " 'timed_out': false, 'output': 'CURRENT names manifest-2\\nmanifest-2 is empty\\n'}}"
#define SAMPLE_ATOMICITY                                                                           \
    "{'id': 2, 'kind': 'atomicity', 'summary': 'manifest-2 written in part',"                      \
    " 'lost': [" SAMPLE_LENGTH ", " SAMPLE_WRITE "], 'survived': [" SAMPLE_WRITE "],"              \
    " 'rule': 'under ext4 a call of several blocks can persist in part', 'fix': 'write to a new"   \
    " file', 'behaviour': null, 'states': 1, 'status': 'confirmed', 'checker': {'exit': 3,"        \
    " 'signal': null, 'timed_out': false, 'output': ''}}"
#define SAMPLE_UNPERSISTED                                                                         \
    "{'id': 3, 'kind': 'unpersisted', 'summary': 'an acknowledgement printed, manifest-2 not"      \
    " written', 'lost': [" SAMPLE_WRITE "], 'survived': [" SAMPLE_PRINT "], 'rule': 'no sync of"   \
    " manifest-2 follows', 'fix': 'fdatasync(manifest-2) after event 9', 'behaviour': {'id': 0,"   \
    " 'name': 'main', 'group': null}, 'states': 2, 'status': 'ignored', 'told': 'saved\\n',"       \
    " 'checker': {'exit': 1, 'signal': null, 'timed_out': false, 'output': 'lost'}}"
#define SAMPLE_RECOVERY                                                                            \
    "{'id': 4, 'kind': 'recovery', 'summary': 'recovery fails after CURRENT.new renamed to"        \
    " CURRENT', 'lost': [], 'survived': [" SAMPLE_RENAME "], 'rule': 'nothing is lost',"           \
    " 'fix': 'recovery has to cope with this state', 'behaviour': null, 'states': 2,"              \
    " 'status': 'new', 'checker': {'exit': null, 'signal': 11, 'timed_out': false,"                \
    " 'output': ''}}"
#define SAMPLE_HEAD                                                                                \
    "'version': 1, 'session': 'current.flotsam', 'program': './workload data',"                    \
    " 'directory': '/src/data', 'checker': './check {dir}', 'model': 'ext4', 'stores': null,"      \
    " 'strategy': 'representative', 'events': 24, 'ops': 12, 'behaviours': 4, 'groups': 3,"        \
    " 'shrinking': 9, 'seconds': {'record': 0.25, 'analyse': 0.01, 'check': 1.5, 'checker': 2.75}"

/* {…} of the text with ' for ", or NULL when it is no JSON. */
static inline json_t *sample_json(const char *text)
{
    char *copy = xstrdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *json = json_loads(copy, 0, NULL);
    free(copy);
    return json;
}

/* A whole check that tested 30 states and found these bugs. */
static inline json_t *sample_report(const char *bugs)
{
    char *text = xasprintf("{" SAMPLE_HEAD ", 'possible': 96, 'states': {'enumerated': 40,"
                           " 'distinct': 30, 'tested': 30, 'inconsistent': %d, 'complete': true},"
                           " 'notices': ['2 calls of io_uring were refused'], 'bugs': [%s]}",
                           *bugs ? 16 : 0, bugs);
    json_t *json = sample_json(text);
    free(text);
    return json;
}

/* The same with one bug of each kind. */
static inline json_t *sample_all(void)
{
    char *bugs = xasprintf("%s, %s, %s, %s", SAMPLE_ORDERING, SAMPLE_ATOMICITY, SAMPLE_UNPERSISTED,
                           SAMPLE_RECOVERY);
    json_t *json = sample_report(bugs);
    free(bugs);
    return json;
}

#endif
