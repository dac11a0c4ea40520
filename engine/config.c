/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/explore.h"
#include "engine/log.h"
#include "engine/mem.h"
#include "engine/nearest.h"

/* A config is written by hand; whatever is longer is some other file. */
enum { FILE_SIZE_MAX = 1 << 20 };

/* Checkers beyond these are surely a slip of the keyboard. */
enum { JOBS_MAX = 4096, TIMEOUT_MAX = 24 * 60 * 60 };

#define AT(member) offsetof(struct config, member)

static const struct config_key keys[] = {
    {"target", "build", CONFIG_COMMAND, AT(build), .help = "run first, in the config's folder"},
    {"target", "dir", CONFIG_PATH, AT(dir), "data",
     .help = "the data directory, relative to the config"},
    {"target", "setup", CONFIG_COMMAND, AT(setup),
     .help = "makes the starting contents, not recorded"},
    {"target", "workload", CONFIG_COMMAND, AT(workload), .help = "the program to record"},
    {"target", "checker", CONFIG_COMMAND, AT(checker),
     .help = "recovers from a crash state; exit 0 when it is consistent"},
    {"target", "acknowledgements", CONFIG_YES_NO, AT(acknowledgements), "yes",
     .help = "whether verdicts depend on what was printed"},
    {"record", "backend", CONFIG_CHOICE, AT(backend), "auto", "auto|ptrace|valgrind",
     .help = "how to record"},
    {"model", "name", CONFIG_CHOICE, AT(model), "ext4", "ext4|posix|xfs|btrfs|ext4-paper|strict",
     .help = "the persistence model for files"},
    {"model", "stores", CONFIG_CHOICE, AT(stores), "auto", "auto|px86|eadr|pagecache",
     .help = "the persistence model for stores to mapped files"},
    {"explore", "strategy", CONFIG_CHOICE, AT(strategy), "representative",
     "representative|all-behaviours|exhaustive|prefix|sync|random",
     .help = "which crash states to test"},
    {"explore", "budget", CONFIG_NUMBER, AT(budget), EXPLORE_TEXT(EXPLORE_BUDGET),
     .max = UINT64_MAX, .help = "states to test at most, 0 for no limit"},
    {"explore", "jobs", CONFIG_NUMBER, AT(jobs), "0", .max = JOBS_MAX,
     .help = "checkers at once, 0 for one per core"},
    {"explore", "timeout", CONFIG_NUMBER, AT(timeout), EXPLORE_TEXT(EXPLORE_TIMEOUT),
     .max = TIMEOUT_MAX, .help = "seconds for one checker run, 0 for no limit"},
    {"explore", "behaviour_max", CONFIG_NUMBER, AT(behaviour_max), "256", .max = UINT32_MAX,
     .help = "ops in a merged behaviour at most, 0 for the default"},
    {"explore", "gap", CONFIG_NUMBER, AT(gap), "10", .max = UINT32_MAX,
     .help = "events between those of one behaviour at most, 0 for the default"},
    {.name = NULL},
};

enum { KEY_COUNT = sizeof keys / sizeof *keys - 1 };

const struct config_key *config_keys(void)
{
    return keys;
}

static size_t count_switches(const struct config *c)
{
    size_t n = 0;
    while (c->switches && c->switches[n].name)
        n++;
    return n;
}

/* A value's place in struct config; the type of the member follows from the key's type. */
static char **text_at(struct config *c, const struct config_key *key)
{
    return (char **)((char *)c + key->offset);
}

static bool is_text(const struct config_key *key)
{
    return key->type == CONFIG_COMMAND || key->type == CONFIG_PATH || key->type == CONFIG_CHOICE;
}

void config_begin(struct config *c, const struct config_switch *switches)
{
    *c = (struct config){.switches = switches};
    size_t n = count_switches(c);
    c->switch_values = xcalloc(n + 1, sizeof *c->switch_values);
    c->switch_layers = xcalloc(n + 1, sizeof *c->switch_layers);
    c->lines = xcalloc(KEY_COUNT + n, sizeof *c->lines);
    for (size_t i = 0; i < n; i++)
        c->switch_values[i] = switches[i].value;
    for (const struct config_key *key = keys; key->name; key++)
        if (key->value)
            config_set(c, key->section, key->name, key->value, "default", NULL);
}

void config_free(struct config *c)
{
    for (const struct config_key *key = keys; key->name; key++)
        if (is_text(key))
            free(*text_at(c, key));
    free(c->file);
    free(c->folder);
    free(c->switch_values);
    free(c->switch_layers);
    free(c->lines);
    *c = (struct config){0};
}

/* ---- values ---- */

static bool parse_yes_no(const char *value, bool *out)
{
    static const char *const words[][2] = {{"no", "yes"}, {"false", "true"}, {"off", "on"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int answer = 0; answer < 2; answer++)
            if (!strcasecmp(value, words[i][answer])) {
                *out = answer;
                return true;
            }
    return false;
}

static bool parse_number(const char *value, uint64_t max, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(value, &end, 10);
    /* strtoull would also take a sign. */
    return isdigit((unsigned char)*value) && *end == '\0' && errno == 0 && *out <= max;
}

/* Whether value is one of "a|b|c"; else nearest, when not NULL, gets the nearest one to free. */
static bool parse_choice(const char *value, const char *choices, char **nearest)
{
    char *copy = xstrdup(choices), *rest = copy, *choice;
    struct nearest n = {.name = value};
    bool found = false;
    while (!found && (choice = strsep(&rest, "|"))) {
        found = !strcmp(choice, value);
        nearest_offer(&n, choice);
    }
    *nearest = !found && n.best ? xstrdup(n.best) : NULL;
    free(copy);
    return found;
}

static bool set_choice(const struct config_key *key, const char *value, const char *origin,
                       struct error *e)
{
    char *near;
    if (parse_choice(value, key->choices, &near))
        return true;
    if (near)
        error_set(e, "%s: %s cannot be \"%s\"; did you mean %s?", origin, key->name, value, near);
    else
        error_set(e, "%s: %s cannot be \"%s\"; it is one of %s", origin, key->name, value,
                  key->choices);
    free(near);
    return false;
}

/* What a hand that means {dir} may write. Perl has a {die} of its own. */
static bool is_nearly_dir(const char *word)
{
    static const char meant[] = "dir";
    size_t n = strlen(word), known = sizeof meant - 1;
    if (!strcmp(word, meant) || !strcmp(word, "die"))
        return false;
    return nearest_distance(word, meant) <= 1 || !strncasecmp(word, meant, known) ||
           (n > known && !strcasecmp(word + n - known, meant));
}

bool config_command_sound(const char *command, struct error *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (const char *at = strchr(command, '{'); at; at = strchr(at + 1, '{')) {
        size_t n = strspn(at + 1, letters);
        if (at[1 + n] != '}' || (at > command && at[-1] == '$'))
            continue;
        char *word = xstrndup(at + 1, n);
        bool sound =
            !is_nearly_dir(word) ||
            error_set(e, "{%s} stands for nothing; did you mean {dir}, the data directory?", word);
        free(word);
        if (!sound)
            return false;
    }
    return true;
}

static bool set_value(struct config *c, const struct config_key *key, const char *value,
                      const char *origin, struct error *e)
{
    void *at = (char *)c + key->offset;
    switch (key->type) {
    case CONFIG_YES_NO:
        if (!parse_yes_no(value, at))
            return error_set(e, "%s: %s is yes or no, not \"%s\"", origin, key->name, value);
        return true;
    case CONFIG_NUMBER:
        if (!parse_number(value, key->max, at))
            return error_set(e, "%s: %s is a whole number up to %" PRIu64 ", not \"%s\"", origin,
                             key->name, key->max, value);
        return true;
    case CONFIG_CHOICE:
        if (!set_choice(key, value, origin, e))
            return false;
        break;
    case CONFIG_COMMAND:
    case CONFIG_PATH:
        if (*value == '\0')
            return error_set(e, "%s: %s is empty; leave the line out or give it a value", origin,
                             key->name);
        if (key->type == CONFIG_COMMAND && !config_command_sound(value, e))
            return error_prefix(e, "%s: %s", origin, key->name);
        break;
    }
    char **text = at;
    free(*text);
    *text = xstrdup(value);
    return true;
}

/* ---- names ---- */

static bool section_known(const char *section)
{
    for (const struct config_key *key = keys; key->name; key++)
        if (!strcmp(key->section, section))
            return true;
    return false;
}

static bool unknown_section(const char *section, const char *origin, struct error *e)
{
    struct nearest n = {.name = section};
    for (const struct config_key *key = keys; key->name; key++)
        nearest_offer(&n, key->section);
    if (n.best)
        return error_set(e, "%s: no section is called [%s]; did you mean [%s]?", origin, section,
                         n.best);
    return error_set(e,
                     "%s: no section is called [%s]; there are [target], [record], [model] and "
                     "[explore]",
                     origin, section);
}

static bool unknown_key(const struct config *c, const char *section, const char *name,
                        const char *origin, struct error *e)
{
    struct nearest n = {.name = name};
    const char *elsewhere = NULL;
    for (const struct config_key *key = keys; key->name; key++) {
        if (!strcmp(key->section, section))
            nearest_offer(&n, key->name);
        else if (!strcmp(key->name, name))
            elsewhere = key->section;
    }
    for (size_t i = 0; !strcmp(section, "model") && i < count_switches(c); i++)
        nearest_offer(&n, c->switches[i].name);
    if (elsewhere)
        return error_set(e, "%s: [%s] has no key %s; it belongs under [%s]", origin, section, name,
                         elsewhere);
    if (n.best)
        return error_set(e, "%s: [%s] has no key %s; did you mean %s?", origin, section, name,
                         n.best);
    return error_set(e, "%s: [%s] has no key %s", origin, section, name);
}

/* The place of a key in config.lines: documented keys first, then switches; -1 when unknown. */
static int find_key(const struct config *c, const char *section, const char *name)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (!strcmp(keys[i].section, section) && !strcmp(keys[i].name, name))
            return i;
    for (size_t i = 0; !strcmp(section, "model") && i < count_switches(c); i++)
        if (!strcmp(c->switches[i].name, name))
            return KEY_COUNT + (int)i;
    return -1;
}

bool config_set(struct config *c, const char *section, const char *name, const char *value,
                const char *origin, struct error *e)
{
    if (!section_known(section))
        return unknown_section(section, origin, e);
    int place = find_key(c, section, name);
    if (place < 0)
        return unknown_key(c, section, name, origin, e);
    if (place < KEY_COUNT && keys[place].offset == AT(model))
        c->model_layer = c->layer;
    if (place < KEY_COUNT)
        return set_value(c, &keys[place], value, origin, e);
    c->switch_layers[place - KEY_COUNT] = c->layer;
    if (!parse_yes_no(value, &c->switch_values[place - KEY_COUNT]))
        return error_set(e, "%s: %s is yes or no, not \"%s\"", origin, name, value);
    return true;
}

void config_next_layer(struct config *c)
{
    c->layer++;
}

bool config_switch_value(const struct config *c, const char *name)
{
    int place = find_key(c, "model", name);
    return place >= KEY_COUNT && c->switch_values[place - KEY_COUNT];
}

bool config_switch_is_older(const struct config *c, const char *name)
{
    int place = find_key(c, "model", name);
    return place >= KEY_COUNT && c->switch_layers[place - KEY_COUNT] < c->model_layer;
}

/* ---- files ---- */

struct reader {
    struct config *config;
    const char *name;
    const char *at, *end;
    bool target;
    unsigned line;
    bool line_open; /* the last piece handed out did not end its line */
    bool failed;
    struct error *e;
};

static bool fail_line(struct reader *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail_line(struct reader *r, unsigned line, const char *format, ...)
{
    if (r->failed)
        return false;
    r->failed = true;
    char *text;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    error_set(r->e, "%s:%u: %s", r->name, line, n < 0 ? "out of memory" : text);
    if (n >= 0)
        free(text);
    return false;
}

/* inih says nothing of a section without keys, so headings are looked at as they pass. */
static void check_heading(struct reader *r, const char *line, size_t n)
{
    while (n > 0 && isspace((unsigned char)*line)) {
        line++;
        n--;
    }
    const char *end = n > 0 && *line == '[' ? memchr(line, ']', n) : NULL;
    if (!end || r->failed)
        return;
    char *section = xstrndup(line + 1, (size_t)(end - line - 1));
    char *origin = xasprintf("%s:%u", r->name, r->line);
    if (!section_known(section))
        r->failed = !unknown_section(section, origin, r->e);
    else if (!r->target && !strcmp(section, "target"))
        fail_line(r, r->line, "[target] belongs in a target's own file, not in the user's config");
    free(origin);
    free(section);
}

/* fgets over the text in memory, counting lines: the library as packaged does not tell them. */
static char *read_line(char *line, int size, void *data)
{
    struct reader *r = data;
    if (r->at == r->end || size < 2)
        return NULL;
    size_t n = (size_t)(r->end - r->at);
    const char *newline = memchr(r->at, '\n', n);
    if (newline)
        n = (size_t)(newline - r->at) + 1;
    if (!r->line_open) {
        r->line++;
        check_heading(r, r->at, n);
    }
    if (n > (size_t)size - 1)
        n = (size_t)size - 1;
    memcpy(line, r->at, n);
    line[n] = '\0';
    r->at += n;
    r->line_open = line[n - 1] != '\n';
    return line;
}

static int take_value(void *data, const char *section, const char *name, const char *value)
{
    struct reader *r = data;
    struct config *c = r->config;
    if (r->failed)
        return 0;
    if (*section == '\0')
        return fail_line(r, r->line, "%s stands before the first [section]", name);
    int place = find_key(c, section, name);
    if (place >= 0 && c->lines[place])
        return fail_line(r, r->line, "%s was given already on line %u", name, c->lines[place]);
    char *origin = xasprintf("%s:%u", r->name, r->line);
    r->failed = !config_set(c, section, name, value, origin, r->e);
    free(origin);
    if (place >= 0)
        c->lines[place] = r->line;
    return !r->failed;
}

bool config_parse(struct config *c, const char *name, const char *text, size_t n, bool target,
                  struct error *e)
{
    struct reader r = {
        .config = c, .name = name, .at = text, .end = text + n, .target = target, .e = e};
    if (n > FILE_SIZE_MAX)
        return error_set(e, "%s: too large for a config", name);
    if (memchr(text, '\0', n))
        return error_set(e, "%s: not a text file", name);
    config_next_layer(c);
    memset(c->lines, 0, (KEY_COUNT + count_switches(c)) * sizeof *c->lines);

    /* A line may be as long as a shell command. An indented line is a key like any other, not
     * more of the value above it, where a key would vanish unseen. */
    ini_use_stack = false;
    ini_allow_realloc = true;
    ini_max_line = FILE_SIZE_MAX;
    ini_allow_multiline = false;
    ini_stop_on_first_error = true;
    int line = ini_parse_stream(read_line, &r, take_value, &r);
    if (r.failed)
        return false;
    if (line < 0)
        return error_set(e, "%s: out of memory", name);
    if (line > 0)
        return fail_line(&r, (unsigned)line, "neither a [section] nor key = value");
    log_info(CONFIG, "read %s", name);
    return true;
}

/* Reads and parses a file; *missing (may be NULL) allows and tells that there is none. */
static bool read_file(struct config *c, const char *path, bool target, bool *missing,
                      struct error *e)
{
    if (missing)
        *missing = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && missing && (errno == ENOENT || errno == ENOTDIR)) {
        *missing = true;
        return true;
    }
    if (fd < 0)
        return error_errno(e, "cannot read the config %s", path);

    struct stat st;
    struct buf text = {0};
    bool ok = false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        error_set(e, "cannot read the config %s: not a file", path);
        goto out;
    }
    for (ssize_t n = 1; n > 0 && text.n <= FILE_SIZE_MAX;) {
        enum { CHUNK = 4096 };
        n = read(fd, buf_room(&text, CHUNK), CHUNK);
        text.n -= (size_t)(n > 0 ? CHUNK - n : CHUNK);
        if (n < 0) {
            error_errno(e, "cannot read the config %s", path);
            goto out;
        }
    }
    ok = config_parse(c, path, buf_string(&text), text.n, target, e);
out:
    buf_free(&text);
    close(fd);
    return ok;
}

/* $XDG_CONFIG_DIRS names the most important first, so it is read from its end. */
static bool read_system(struct config *c, struct error *e)
{
    const char *dirs = getenv("XDG_CONFIG_DIRS");
    char *rest = xstrdup(dirs && *dirs ? dirs : "/etc/xdg");
    bool ok = true, last = false;
    while (ok && !last) {
        char *colon = strrchr(rest, ':');
        const char *dir = colon ? colon + 1 : rest;
        if (*dir == '/') {
            bool missing;
            char *path = xasprintf("%s/flotsam/config", dir);
            ok = read_file(c, path, false, &missing, e);
            free(path);
        }
        last = !colon;
        if (colon)
            *colon = '\0';
    }
    free(rest);
    return ok;
}

bool config_read_user(struct config *c, struct error *e)
{
    if (!read_system(c, e))
        return false;
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path;
    if (config && *config == '/')
        path = xasprintf("%s/flotsam/config", config);
    else if (home && *home == '/')
        path = xasprintf("%s/.config/flotsam/config", home);
    else
        return true;
    bool missing, ok = read_file(c, path, false, &missing, e);
    free(path);
    return ok;
}

bool config_read_target(struct config *c, const char *path, struct error *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return error_errno(e, "no config at %s", path);
    char *file = S_ISDIR(st.st_mode) ? xasprintf("%s/flotsam.ini", path) : xstrdup(path);
    char *absolute = realpath(file, NULL);
    bool ok =
        absolute ? read_file(c, file, true, NULL, e) : error_errno(e, "no config at %s", file);
    free(file);
    if (!ok) {
        free(absolute);
        return false;
    }
    free(c->file);
    free(c->folder);
    c->file = absolute;
    const char *slash = strrchr(absolute, '/');
    c->folder = xstrndup(absolute, slash == absolute ? 1 : (size_t)(slash - absolute));
    return true;
}

/* FLOTSAM_EXPLORE_JOBS for [explore] jobs. */
static char *variable_name(const char *section, const char *name)
{
    char *variable = xasprintf("FLOTSAM_%s_%s", section, name);
    for (char *at = variable; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return variable;
}

static bool set_from_environment(struct config *c, const char *section, const char *name,
                                 struct error *e)
{
    char *variable = variable_name(section, name);
    const char *value = getenv(variable);
    bool ok = !value || config_set(c, section, name, value, variable, e);
    free(variable);
    return ok;
}

/* One of "FLOTSAM_SECTION_KEY=…", if its section is this one. */
static bool check_variable(const struct config *c, const char *section, const char *entry,
                           struct error *e)
{
    char *prefix = variable_name(section, ""), *variable = xstrndup(entry, strcspn(entry, "="));
    size_t n = strlen(prefix);
    bool ok = true;
    if (!strncmp(variable, prefix, n)) {
        char *key = xstrdup(variable + n);
        for (char *at = key; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        if (!strcmp(section, "target"))
            ok = error_set(e, "%s: [target] belongs to a target's own config", variable);
        else
            ok = find_key(c, section, key) >= 0 || unknown_key(c, section, key, variable, e);
        free(key);
    }
    free(variable);
    free(prefix);
    return ok;
}

static bool check_variables(const struct config *c, struct error *e)
{
    const char *section = "";
    for (const struct config_key *key = keys; key->name; key++) {
        if (!strcmp(key->section, section))
            continue;
        section = key->section;
        for (char **entry = environ; *entry; entry++)
            if (!check_variable(c, section, *entry, e))
                return false;
    }
    return true;
}

bool config_read_environment(struct config *c, struct error *e)
{
    config_next_layer(c);
    if (!check_variables(c, e))
        return false;
    for (const struct config_key *key = keys; key->name; key++)
        if (strcmp(key->section, "target") && !set_from_environment(c, key->section, key->name, e))
            return false;
    for (size_t i = 0; i < count_switches(c); i++)
        if (!set_from_environment(c, "model", c->switches[i].name, e))
            return false;
    return true;
}

bool config_load(struct config *c, const char *path, struct error *e)
{
    if (!config_read_user(c, e) || !config_read_target(c, path, e) ||
        !config_read_environment(c, e))
        return false;
    if (!c->workload)
        return error_set(e, "%s: no workload; say under [target] what to run, workload = …",
                         c->file);
    return true;
}

/* ---- what follows from the values ---- */

char *config_data_dir(const struct config *c)
{
    if (*c->dir == '/' || !c->folder)
        return xstrdup(c->dir);
    return xasprintf("%s/%s", c->folder, c->dir);
}

static bool plain(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_/.,:+=@%-";
    return *text && text[strspn(text, safe)] == '\0';
}

/* Adds dir so that the shell, with this quote open (' or " or 0), sees exactly its bytes. */
static void add_quoted(struct buf *b, const char *dir, char quote)
{
    if (plain(dir)) {
        buf_text(b, dir);
        return;
    }
    if (quote == 0)
        buf_char(b, '\'');
    for (; *dir; dir++) {
        if (quote == '"') {
            if (strchr("$`\"\\", *dir))
                buf_char(b, '\\');
            buf_char(b, *dir);
        } else if (*dir == '\'')
            buf_text(b, "'\\''");
        else
            buf_char(b, *dir);
    }
    if (quote == 0)
        buf_char(b, '\'');
}

char *config_command(const char *command, const char *dir)
{
    static const char place[] = "{dir}";
    struct buf b = {0};
    buf_text(&b, "");
    char quote = 0;
    for (const char *at = command; *at;) {
        if (!strncmp(at, place, sizeof place - 1)) {
            add_quoted(&b, dir, quote);
            at += sizeof place - 1;
            continue;
        }
        if (*at == '\\' && quote != '\'' && at[1])
            buf_char(&b, *at++);
        else if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        buf_char(&b, *at++);
    }
    return b.at;
}
