/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests: what can be asked of the debugger. This one table makes the names that are typed at the
 * prompt and in scripts, the keys, the help screen, the man page's list and the completion.
 *
 *     X(ID, NAME, KEYS, ARGUMENTS, SECTION, HELP)
 *
 * KEYS are the default ones, separated by spaces. ARGUMENTS are written as help shows them; the
 * words in capitals decide what completion offers (tui/complete.c). A request runs do_ID(), which
 * is in one of the files tui/do_*.c.
 */
#ifndef TUI_REQUESTS_H
#define TUI_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"

#define REQUESTS(X)                                                                                \
    X(up, "up", "Up k", "[N]", MOVE, "the row above")                                              \
    X(down, "down", "Down j", "[N]", MOVE, "the row below")                                        \
    X(page_up, "page-up", "PgUp C-b", "", MOVE, "a screenful up")                                  \
    X(page_down, "page-down", "PgDn C-f", "", MOVE, "a screenful down")                            \
    X(top, "top", "Home <", "", MOVE, "the first row")                                             \
    X(bottom, "bottom", "End >", "", MOVE, "the last row")                                         \
    X(left, "left", "Left h", "", MOVE, "to the left; in a graph, the op before")                  \
    X(right, "right", "Right", "", MOVE, "to the right; in a graph, the op after")                 \
    X(focus, "focus", "Tab", "", MOVE, "the next pane")                                            \
    X(focus_back, "focus-back", "BackTab", "", MOVE, "the pane before")                            \
    X(zoom, "zoom", "=", "", MOVE, "this pane alone, or all again")                                \
    X(open, "open", "Enter", "", MOVE, "what the row is about")                                    \
    X(back, "back", "[ q Backspace", "", MOVE, "where you came from; at the beginning: leave")     \
    X(forward, "forward", "]", "", MOVE, "where you went back from")                               \
    X(go, "go", "g", "SUBJECT", MOVE,                                                              \
      "event:N, op:N, bug:N, state:N, behaviour:N, group:N, object:N, FILE:LINE or a function")    \
    X(overview, "overview", "1", "", VIEW, "what was recorded, checked and found")                 \
    X(bugs, "bugs", "2", "", VIEW, "the bugs, and what became of them")                            \
    X(trace, "trace", "3", "", VIEW, "the events in their order")                                  \
    X(ops, "ops", "4", "", VIEW, "the ops, and what each must follow")                             \
    X(graph, "graph", "5", "[SUBJECT]", VIEW, "a picture of the order around what is selected")    \
    X(behaviours, "behaviours", "6", "", VIEW, "which ops do one task")                            \
    X(groups, "groups", "7", "", VIEW, "which behaviour is tested for which others")               \
    X(states, "states", "8", "", VIEW, "the crash states of the last check")                       \
    X(schedule, "schedule", "9", "[SUBJECT]", VIEW,                                                \
      "what survives the crash in hand, to step through")                                          \
    X(state, "state", "0", "", VIEW, "the files that it leaves, against those without a crash")    \
    X(objects, "objects", "O", "[SUBJECT]", VIEW,                                                  \
      "the objects in mapped files, field by field, against those without a crash")                \
    X(source, "source", "v", "[SUBJECT]", VIEW, "the source lines of what is selected")            \
    X(output, "output", "o", "", VIEW, "what the checker said")                                    \
    X(fixes, "fixes", "F", "", VIEW, "the pretended syncs")                                        \
    X(bookmarks, "bookmarks", "B", "", VIEW, "the bookmarks")                                      \
    X(change, "change", "i", "", VIEW, "what the last step or toggle did, op by op, and why")      \
    X(lint, "lint", "P", "", VIEW, "work for durability that is wasted, or missing")               \
    X(links, "links", "l", "", VIEW, "everything that the row is connected with")                  \
    X(help, "help", "? F1", "[COMMAND]", VIEW, "keys and commands; what one of them does")         \
    X(step, "step", "s", "[N]", STEP, "one op further survives")                                   \
    X(step_back, "step-back", "S", "[N]", STEP, "one op less")                                     \
    X(sync, "sync", "n", "[N]", STEP, "on to the next sync")                                       \
    X(sync_back, "sync-back", "N", "[N]", STEP, "back to the sync before")                         \
    X(failing, "failing", "c", "", STEP, "the next inconsistent state")                            \
    X(failing_back, "failing-back", "C", "", STEP, "the inconsistent state before")                \
    X(toggle, "toggle", "Space", "[N]", STEP,                                                      \
      "lose the op, or keep it; what follows is explained")                                        \
    X(undo, "undo", "z", "", STEP, "take the last step or toggle back")                            \
    X(redo, "redo", "Z", "", STEP, "do it again")                                                  \
    X(frame_up, "frame-up", "u", "", STEP, "the calling function's line")                          \
    X(frame_down, "frame-down", "d", "", STEP, "the called function's line")                       \
    X(test, "test", "x", "", STEP, "run the checker on the state in hand")                         \
    X(search, "search", "/", "TEXT", FIND, "the next row with a text")                             \
    X(next, "next", ".", "", FIND, "the next one")                                                 \
    X(previous, "previous", ",", "", FIND, "the one before")                                       \
    X(filter, "filter", "\\", "[TEXT]", FIND,                                                      \
      "only rows with a text, or COLUMN=PATTERN; ! before it: without; nothing: all rows")         \
    X(sort, "sort", "", "[COLUMN]", FIND,                                                          \
      "rows by a column, -COLUMN downwards; nothing: as they come")                                \
    X(why, "why", "w", "[N N]", WHY,                                                               \
      "why a bug is legal; why two behaviours are, or are not, in one group")                      \
    X(rules, "rules", "a", "[N]", WHY, "all that the op must follow and precede, by which rules")  \
    X(check, "check", "X", "[KEY=VALUE...]", CHECK,                                                \
      "test the crash states: model, stores, strategy, budget, jobs, timeout, seed, checker "      \
      "(quoted, or the rest of the line)")                                                         \
    X(pause, "pause", "p", "", CHECK, "halt the check, or go on")                                  \
    X(stop, "stop", "", "", CHECK, "end what runs; what was done is kept")                         \
    X(fix, "fix", "f", "[SYNC [N]]", CHECK,                                                        \
      "pretend fsync, fdatasync, dirsync, sync or flush after an event; alone: what the bug "      \
      "proposes")                                                                                  \
    X(unfix, "unfix", "", "[N]", CHECK, "take a pretended sync back; alone: all of them")          \
    X(try, "try", "T", "", CHECK, "check again with the pretended syncs: which bugs are gone")     \
    X(status, "status", "t", "[STATUS]", NOTE, "of a bug: new, confirmed, duplicate N, ignored")   \
    X(note, "note", "m", "[TEXT]", NOTE, "a note on a bug; alone: in your editor")                 \
    X(bookmark, "bookmark", "b", "[TEXT]", NOTE, "remember the row, or forget it")                 \
    X(copy, "copy", "y", "[FILE]", NOTE, "the bug's report as text, to a file or the clipboard")   \
    X(export, "export", "e", "FILE", NOTE,                                                         \
      "the graph in view as .dot, .svg, .png or .json; else the view as .txt")                     \
    X(save, "save", "", "FILE", NOTE, "the session as another file, and go on with that")          \
    X(implied, "implied", "%", "", OTHER, "in a graph: also the edges that others imply, or not")  \
    X(colour, "colour", "r", "", OTHER, "in a graph: colours by file, or by what survived")        \
    X(command, "command", ":", "", OTHER, "type a command")                                        \
    X(cancel, "cancel", "Escape C-c", "", OTHER, "end a search, a filter, what is under way")      \
    X(theme, "theme", "", "THEME", OTHER, "another theme")                                         \
    X(model, "model", "", "MODEL [SWITCH]", OTHER,                                                 \
      "look at the run under another persistence model; stores=px86: for stores, too")             \
    X(bind, "bind", "", "KEY COMMAND", OTHER, "what a key does")                                   \
    X(redraw, "redraw", "C-l", "", OTHER, "draw everything anew")                                  \
    X(dump, "dump", "", "screen|styles|view FILE", OTHER,                                          \
      "write down what is shown; FILE - is standard output")                                       \
    X(press, "press", "", "KEY...", OTHER, "as if keys were pressed")                              \
    X(click, "click", "", "COLUMN ROW", OTHER, "as if the mouse was")                              \
    X(size, "size", "", "COLSxROWS", OTHER, "of the screen, where there is no terminal")           \
    X(suspend, "suspend", "C-z", "", OTHER, "stop the debugger; fg in the shell goes on")          \
    X(quit, "quit", "Q", "", OTHER, "leave; everything is kept")

#define REQUEST_SECTIONS(X)                                                                        \
    X(MOVE, "Moving")                                                                              \
    X(VIEW, "Views")                                                                               \
    X(STEP, "Stepping a crash")                                                                    \
    X(FIND, "Finding")                                                                             \
    X(WHY, "Why")                                                                                  \
    X(CHECK, "Checking and fixing")                                                                \
    X(NOTE, "Notes and exports")                                                                   \
    X(OTHER, "Other")

enum request_section {
#define X(id, title) SECTION_##id,
    REQUEST_SECTIONS(X)
#undef X
        SECTION_COUNT
};

enum request {
#define X(id, name, keys, arguments, section, help) REQUEST_##id,
    REQUESTS(X)
#undef X
        REQUEST_COUNT
};

struct debugger;

/* What must happen after a request. */
enum after {
    AFTER_NOTHING,
    AFTER_REDRAW,
    AFTER_LEAVE,
};

struct request_info {
    const char *name, *keys, *arguments, *help;
    enum request_section section;
    /* words: the arguments as typed, never NULL, without spaces at their ends. False with what is
     * wrong in the error. */
    bool (*run)(struct debugger *d, const char *words, enum after *after, struct error *e);
};

const struct request_info *request_info(enum request r);
const char *request_section_title(enum request_section s);

/* A request by its name, or by the beginning of it that fits no other; REQUEST_COUNT and the
 * nearest name in the error when there is none. */
enum request request_find(const char *name, size_t n, struct error *e);

#define X(id, name, keys, arguments, section, help)                                                \
    bool do_##id(struct debugger *d, const char *words, enum after *after, struct error *e);
REQUESTS(X)
#undef X

#endif
