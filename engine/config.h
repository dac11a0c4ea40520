/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * config: what to run and how, from INI files (inih), the environment and the command line. Later
 * ones win:
 *
 *     defaults                               the table of keys in config.c
 *     DIR/flotsam/config                     for DIR in $XDG_CONFIG_DIRS (/etc/xdg), last one first
 *     $XDG_CONFIG_HOME/flotsam/config        else ~/.config/flotsam/config
 *     the target's own file                  FOLDER/flotsam.ini
 *     FLOTSAM_SECTION_KEY                    e.g. FLOTSAM_EXPLORE_JOBS=2
 *     flags                                  by config_set
 *
 * [target] belongs to a target's own file only. An unknown section or key, a bad value, a key given
 * twice: an error with the file, the line and the nearest right name.
 */
#ifndef ENGINE_CONFIG_H
#define ENGINE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"

enum config_type {
    CONFIG_COMMAND, /* a line for the shell; {dir} stands for the data directory */
    CONFIG_PATH,
    CONFIG_CHOICE,
    CONFIG_YES_NO,
    CONFIG_NUMBER,
};

/* One documented key. */
struct config_key {
    const char *section, *name;
    enum config_type type;
    size_t offset;       /* of its value in struct config */
    const char *value;   /* the default, as it would be written; NULL: none */
    const char *choices; /* "a|b", for CONFIG_CHOICE */
    uint64_t max;        /* for CONFIG_NUMBER */
    const char *help;    /* one line */
};

/* A switch of a persistence model, yes or no under [model]. */
struct config_switch {
    const char *name; /* NULL ends a table */
    bool value;       /* the default */
    const char *help;
};

struct config {
    char *build, *dir, *setup, *workload, *checker; /* NULL when not given */
    bool acknowledgements;
    char *backend;
    char *model, *stores;
    char *strategy;
    uint64_t budget, jobs, timeout;
    uint64_t behaviour_max, gap;

    char *file; /* the target's file, absolute, and the folder it lies in; NULL until read */
    char *folder;

    const struct config_switch *switches;
    bool *switch_values; /* by place in switches */
    unsigned *lines;     /* where each key was set in the file being read, 0: not */
    unsigned layer;      /* what is being read, counted; and where these were set, 0: nowhere */
    unsigned model_layer, *switch_layers;
};

/* The documented keys, ended by a NULL name. */
const struct config_key *config_keys(void);

/* Sets the defaults. switches (may be NULL) are accepted under [model] besides the keys; the table
 * must outlive c. */
void config_begin(struct config *c, const struct config_switch *switches);
void config_free(struct config *c);

/* Reads INI text on top of what is there. name is for messages; target says whether [target] may
 * appear. */
bool config_parse(struct config *c, const char *name, const char *text, size_t n, bool target,
                  struct error *e);

/* The system's files and the user's; missing files are fine. */
bool config_read_user(struct config *c, struct error *e);

/* A target's file, or the folder with its flotsam.ini. */
bool config_read_target(struct config *c, const char *path, struct error *e);

/* A FLOTSAM_SECTION_… that is no key of that section is an error. */
bool config_read_environment(struct config *c, struct error *e);

/* What is set from now on comes from elsewhere, and wins over what was read so far. */
void config_next_layer(struct config *c);

/* All of the above in their order, and that what every target needs is there. */
bool config_load(struct config *c, const char *path, struct error *e);

/* Sets one key as a flag or a line would; origin ("--jobs") begins the message of a failure. */
bool config_set(struct config *c, const char *section, const char *name, const char *value,
                const char *origin, struct error *e);

/* The state of a switch from the table given at the beginning. */
bool config_switch_value(const struct config *c, const char *name);

/* Whether it was set for some other model: before the one that holds was named, elsewhere. */
bool config_switch_is_older(const struct config *c, const char *name);

/* The data directory as an absolute path. The caller frees it. */
char *config_data_dir(const struct config *c);

/* False where a command has something that was surely to be {dir}: {dri}, {DIR}, {directory}. Other
 * words in braces are a shell's, awk's or Perl's. */
bool config_command_sound(const char *command, struct error *e);

/* A command with {dir} replaced, quoted as the place in the command needs it: bare, or inside
 * single or double quotes. The caller frees it. */
char *config_command(const char *command, const char *dir);

#endif
