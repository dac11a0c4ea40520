/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/explore_inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "engine/buf.h"
#include "engine/escape.h"
#include "engine/moment.h"
#include "engine/pool_command.h"

static const char *const strategies[] = {
    [STRATEGY_REPRESENTATIVE] = "representative",
    [STRATEGY_ALL_BEHAVIOURS] = "all-behaviours",
    [STRATEGY_EXHAUSTIVE] = "exhaustive",
    [STRATEGY_PREFIX] = "prefix",
    [STRATEGY_SYNC] = "sync",
    [STRATEGY_RANDOM] = "random",
};

bool strategy_find(const char *name, enum strategy *out, struct error *e)
{
    struct buf known = {0};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        if (strcmp(strategies[i], name) == 0) {
            *out = (enum strategy)i;
            buf_free(&known);
            return true;
        }
        buf_printf(&known, "%s%s", i ? ", " : "", strategies[i]);
    }
    error_set(e, "there is no strategy %s; there are %s", name, buf_string(&known));
    buf_free(&known);
    return false;
}

const char *strategy_name(enum strategy s)
{
    return strategies[s];
}

/* ---- who checks ---- */

/* A checker that was edited is another checker: its old verdicts must not be taken for its own. So
 * it is its command together with the contents of the files that the command names: those that a
 * word leads to from the checker's folder, and programs of that name. */
static void add_contents(struct buf *out, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            buf_printf(out, " %016llx", (unsigned long long)XXH3_64bits(bytes, (size_t)st.st_size));
            munmap(bytes, (size_t)st.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
}

static void add_word(struct buf *out, const char *folder, const char *word)
{
    char *below = *word == '/' ? xstrdup(word) : xasprintf("%s/%s", folder, word);
    char *program = strchr(word, '/') ? NULL : pool_command_find(word, folder);
    add_contents(out, below);
    if (program)
        add_contents(out, program);
    free(program);
    free(below);
}

static char *checker_identity(const struct explore_options *options)
{
    static const char between[] = " \t\n\"'`;&|()<>";
    struct buf out = {0};
    char *words = xstrdup(options->checker), *rest;
    buf_text(&out, options->checker);
    for (char *word = strtok_r(words, between, &rest); word; word = strtok_r(NULL, between, &rest))
        add_word(&out, options->cwd ? options->cwd : ".", word);
    free(words);
    char *identity = xstrdup(buf_string(&out));
    buf_free(&out);
    return identity;
}

/* ---- making one ---- */

/* Of each file, what was ever put into it, and where that ends. Zeros take no room. */
struct extents_seen {
    size_t n;
    struct {
        uint64_t bytes, end;
    } * files;
};

static bool see_extent(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload)
{
    struct extents_seen *seen = data;
    if (file >= seen->n || payload == PAYLOAD_ZEROS)
        return true;
    seen->files[file].bytes += size;
    if (offset + size > seen->files[file].end)
        seen->files[file].end = offset + size;
    return true;
}

/* How many bytes one state, and what is kept for the next ones, takes at most. What cannot be read
 * is complained of later. */
static uint64_t room_for_state(struct analysis *a)
{
    enum { BLOCK = 4096 };
    uint64_t room = 0;
    struct extents_seen seen = {.n = (size_t)session_file_count(a->session) + 1};
    seen.files = xcalloc(seen.n, sizeof *seen.files);
    session_image(a->session, &(struct image_visitor){.extent = see_extent}, &seen, NULL);
    for (size_t i = 0; i < a->graph->n; i++) {
        const struct op *op = &a->graph->ops[i];
        if ((op->kind == OP_DATA || op->kind == OP_STORE) && !(op->flags & OP_CARRIED))
            see_extent(&seen, op->file, op->offset, op->length, op->payload);
    }
    for (size_t i = 0; i < seen.n; i++) {
        uint64_t most =
            seen.files[i].bytes < seen.files[i].end ? seen.files[i].bytes : seen.files[i].end;
        room += (most + 2 * BLOCK - 1) / BLOCK * BLOCK; /* its last block, and the file itself */
    }
    free(seen.files);
    return room;
}

/* The pool comes first: its processes begin as copies of this one. */
static bool make_pool(struct exploration *x, struct error *e)
{
    struct pool_options options = {.command = x->options.checker,
                                   .dir = x->options.dir,
                                   .folder = x->options.cwd,
                                   .room = room_for_state(x->analysis),
                                   .jobs = x->options.jobs,
                                   .timeout = x->options.timeout};
    if (!pool_new(&x->pool, &options, e))
        return false;
    for (int w = 0; w < pool_workers(x->pool); w++) {
        struct scene *scene;
        if (!scene_new(&scene, pool_lower(x->pool, w), e))
            return false;
        vec_push(&x->scenes, scene);
    }
    return true;
}

static bool any_hard_link(void *data, const struct state_name *name)
{
    bool *found = data;
    *found |= name->kind == FILE_REGULAR && name->names > 1;
    return !*found;
}

/* Looking for files with several names costs a walk through the state: most runs have none. */
static bool may_link(struct exploration *x)
{
    bool found = false;
    state_walk(stepper_state(x->stepper), any_hard_link, &found);
    for (size_t i = 0; i < x->analysis->action_count && !found; i++)
        found = x->analysis->actions[i].call == CALL_LINK;
    return found;
}

bool exploration_new(struct exploration **out, struct analysis *a,
                     const struct explore_options *options, struct error *e)
{
    struct exploration *x = xcalloc(1, sizeof *x);
    x->analysis = a;
    x->options = *options;
    x->source = state_session_source(a->session);
    x->checker = checker_identity(options);
    if (!make_pool(x, e) || !stepper_new(&x->stepper, a->graph, &x->source, e) ||
        !told_new(&x->told, a->session, e) || !verdicts_open(&x->verdicts, a->session, e)) {
        exploration_free(x);
        return false;
    }
    x->may_link = may_link(x);
    *out = x;
    return true;
}

void exploration_free(struct exploration *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->scenes.n; i++)
        scene_free(x->scenes.at[i]);
    vec_free(&x->scenes);
    pool_free(x->pool);
    verdicts_close(x->verdicts, NULL);
    told_free(x->told);
    stepper_free(x->stepper);
    groups_free(x->groups);
    environments_free(x->environments);
    for (size_t i = 0; i < x->states.n; i++)
        free((void *)(uintptr_t)x->states.at[i].schedule.lost);
    vec_free(&x->states);
    vec_free(&x->units);
    exploration_drop_held(x);
    map_free(&x->seen);
    free(x->checker);
    free(x);
}

/* ---- checkers ---- */

static struct verdict verdict_of(const struct pool_verdict *from)
{
    static const enum verdict_kind kinds[] = {[POOL_CONSISTENT] = VERDICT_CONSISTENT,
                                              [POOL_INCONSISTENT] = VERDICT_INCONSISTENT,
                                              [POOL_CRASHED] = VERDICT_CRASHED,
                                              [POOL_HUNG] = VERDICT_HUNG,
                                              [POOL_NOT_RUN] = VERDICT_NOT_RUN};
    return (struct verdict){.kind = kinds[from->outcome],
                            .exit = from->exit_status,
                            .signal = from->signal,
                            .seconds = from->seconds,
                            .output = escape_zeros(from->output, from->output_size)};
}

/* How long a wait for a checker lasts before whoever started the exploration is asked again. */
enum { WAIT_MS = 40 };

/* Nothing goes on meanwhile, and nobody else has to wait for the session. */
static void rest(struct exploration *x)
{
    struct explore_options *o = &x->options;
    if (!o->paused || !o->paused(o->data))
        return;
    verdicts_flush(x->verdicts, NULL); /* if it cannot be, the next one says so */
    while (o->paused(o->data))
        continue;
}

/* Whether whoever started the exploration wants it to end. */
static bool interrupted(struct exploration *x)
{
    struct explore_counts *c = &x->counts;
    if (!c->stopped)
        rest(x);
    if (!c->stopped && x->options.progress && !x->options.progress(x->options.data, c)) {
        snprintf(c->cut, sizeof c->cut, "it was interrupted");
        c->complete = false;
        x->stop = c->stopped = true;
    }
    return c->stopped;
}

/* Checkers of exploration_test have tickets of their own, above all numbers of states. */
static const uint64_t test_ticket = UINT64_C(1) << 63;

static void count_time(struct explore_counts *c, const struct pool_verdict *from)
{
    c->checker_seconds += from->seconds;
    c->checker_cpu += from->checker_cpu;
    c->pool_cpu += from->own_cpu;
}

/* Keeps what a checker said of a state; what an interrupted test left is not waited for. */
static bool keep_verdict(struct exploration *x, const struct pool_verdict *from, struct error *e)
{
    x->running--;
    if (from->ticket >= test_ticket)
        return true;
    struct explored *state = &x->states.at[from->ticket];
    struct verdict verdict = verdict_of(from);
    count_time(&x->counts, from);
    bool done = true;
    if (verdict.kind == VERDICT_NOT_RUN)
        done = error_set(e, "a checker could not be run: %s", verdict.output);
    else {
        state->verdict = verdict.kind;
        x->counts.tested++;
        x->counts.inconsistent += verdict_is_bad(&verdict);
        done = exploration_keep_verdict(x, &state->key, &verdict, e);
    }
    verdict_clear(&verdict);
    return done;
}

/* Waits for one checker, but not for long: interrupted() is to be asked again. */
static bool take_verdict(struct exploration *x, struct error *e)
{
    struct pool_verdict from;
    if (pool_wait(x->pool, &from, WAIT_MS))
        return keep_verdict(x, &from, e);
    return verdicts_flush_old(x->verdicts, e);
}

/* Starts the checker on the stepper's state. Waits while all workers are busy; an interruption
 * leaves the state without a verdict. */
static bool start_checker(struct exploration *x, uint64_t ticket, uint64_t told_until,
                          int *worker_out, struct error *e)
{
    int worker;
    *worker_out = -1;
    while ((worker = pool_idle(x->pool)) < 0) {
        if (!take_verdict(x, e))
            return false;
        if (interrupted(x))
            return true;
    }
    *worker_out = worker;
    struct state *state = stepper_state(x->stepper);
    if (!scene_sync(x->scenes.at[worker], state, e))
        return error_prefix(e, "no crash state in %s (TMPDIR names another place)",
                            pool_lower(x->pool, worker));
    /* A checker whose verdicts do not depend on what was told is not told. */
    struct told_until told = told_before(x->told, x->options.acknowledgements ? told_until : 0);
    char *markers = xstrndup(told.markers, told.markers_size);
    struct pool_input input = {.printed = told.printed,
                               .printed_size = told.printed_size,
                               .markers = markers,
                               .ticket = ticket};
    input.crash_event = moment_begun(x->analysis->session, told_until);
    if (x->may_link)
        state_walk(state, any_hard_link, &input.hard_links);
    bool done = pool_run(x->pool, worker, &input, e);
    x->running += done;
    free(markers);
    return done;
}

static struct verdict_key key_at(struct exploration *x, uint64_t told_until)
{
    uint64_t hash = x->options.acknowledgements ? told_before(x->told, told_until).hash : 0;
    return verdict_key(state_hash(stepper_state(x->stepper)), hash, x->checker);
}

/* What the session says of it already. A checker that hung may not with more time than it had, and
 * one that could not be run may be able to now. */
static bool find_verdict(struct exploration *x, const struct verdict_key *key, struct verdict *out)
{
    if (!verdicts_find(x->verdicts, key, out))
        return false;
    bool had_less = x->options.timeout <= 0 || out->seconds < x->options.timeout;
    if ((out->kind != VERDICT_HUNG || !had_less) && !exploration_says_nothing(x, out))
        return true;
    verdict_clear(out);
    return false;
}

/* ---- going through ---- */

bool exploration_ended(struct exploration *x)
{
    return interrupted(x) || x->stop;
}

/* Whether there is no going through another state. */
static bool out_of_budget(struct exploration *x)
{
    struct explore_counts *c = &x->counts;
    if (!x->options.budget || c->enumerated < x->options.budget)
        return false;
    snprintf(c->cut, sizeof c->cut, "the budget of %llu states was reached",
             (unsigned long long)x->options.budget);
    x->stop = true;
    return true;
}

struct schedule exploration_keep(const struct schedule *s)
{
    uint32_t *lost = xcalloc(s->lost_count + 1, sizeof *lost);
    memcpy(lost, s->lost_count ? s->lost : lost, s->lost_count * sizeof *lost);
    return (struct schedule){s->last, s->lost_count, lost};
}

/* Hands on the states whose verdicts are known, up to the first that waits for its checker. */
static bool settle(struct exploration *x, struct error *e)
{
    if (!x->counts.stopped && !exploration_prove(x, e))
        return x->counts.stopped;
    while (x->options.settled && !x->counts.stopped && x->next_settled < x->states.n &&
           x->states.at[x->next_settled].verdict != VERDICT_NOT_RUN)
        if (!x->options.settled(x->options.data, x, x->next_settled++, e))
            return x->counts.stopped; /* what an interruption cut short is no failure */
    return true;
}

/* Whether a state has been met; *place is where its number belongs. One that was only met on the
 * way to a cause counts as met from now on. */
static bool is_new(struct exploration *x, const struct verdict_key *key, uint64_t **place)
{
    bool added;
    *place = map_put(&x->seen, key, sizeof *key, &added);
    if (!added && **place)
        return false;
    x->counts.shrinking -= !added;
    x->counts.distinct++;
    return true;
}

bool exploration_visit(struct exploration *x, const struct schedule *s, const struct unit *unit,
                       struct error *e)
{
    if (!settle(x, e) || !verdicts_flush_old(x->verdicts, e))
        return false;
    if (out_of_budget(x))
        return true;
    if (!stepper_go(x->stepper, s, e))
        return false;
    x->counts.enumerated++;
    struct explored state = {.crash = schedule_crash(x->analysis->graph, s),
                             .behaviour = unit->behaviour,
                             .group = unit->group};
    state.key = key_at(x, state.crash);
    uint64_t *place;
    if (!is_new(x, &state.key, &place))
        return true;
    *place = x->states.n + 1;
    state.schedule = exploration_keep(s);
    struct verdict known;
    bool reused = find_verdict(x, &state.key, &known);
    if (reused) {
        state.verdict = known.kind;
        x->counts.reused++;
        x->counts.inconsistent += verdict_is_bad(&known);
        verdict_clear(&known);
    }
    vec_push(&x->states, state);
    int worker;
    return reused || start_checker(x, x->states.n - 1, state.crash, &worker, e);
}

bool exploration_drain(struct exploration *x, struct error *e)
{
    while (x->running && !interrupted(x))
        if (!take_verdict(x, e) || !settle(x, e))
            return false;
    return settle(x, e);
}

bool exploration_run(struct exploration *x, struct error *e)
{
    bool done =
        exploration_units(x, e) && exploration_drain(x, e) && verdicts_flush(x->verdicts, e);
    if (done && !*x->counts.cut && x->left_out)
        snprintf(x->counts.cut, sizeof x->counts.cut,
                 "around a behaviour at most %d unsynced ops of others are lost by turns; up to "
                 "%llu older "
                 "ones were not (the strategy exhaustive leaves out none)",
                 ENVIRONMENT_MAX, (unsigned long long)x->left_out);
    x->counts.complete = done && !*x->counts.cut;
    if (done)
        exploration_count_possible(x);
    return done;
}

const struct explore_counts *exploration_counts(const struct exploration *x)
{
    return &x->counts;
}

size_t exploration_states(const struct exploration *x, const struct explored **out)
{
    *out = x->states.at;
    return x->states.n;
}

bool exploration_flush(struct exploration *x, struct error *e)
{
    return verdicts_flush(x->verdicts, e);
}

struct stepper *exploration_stepper(struct exploration *x)
{
    return x->stepper;
}

const struct told *exploration_told(const struct exploration *x)
{
    return x->told;
}

struct groups *exploration_groups(const struct exploration *x)
{
    return x->groups;
}

/* ---- single states ---- */

/* The state may be with a checker already. */
static bool wait_for_state(struct exploration *x, const struct verdict_key *key, struct error *e)
{
    const uint64_t *place = map_get(&x->seen, key, sizeof *key);
    while (place && *place && x->running && x->states.at[*place - 1].verdict == VERDICT_NOT_RUN) {
        if (interrupted(x))
            return error_set(e, INTERRUPTED);
        if (!take_verdict(x, e))
            return false;
    }
    return true;
}

/* Hands on what a checker has printed since the last time. */
static void hand_on(struct exploration *x, const char *bytes, size_t n, size_t *told)
{
    if (n > *told && x->options.output)
        x->options.output(x->options.data, bytes + *told, n - *told);
    *told = n > *told ? n : *told;
}

/* Runs the checker on the stepper's state and waits for it; others that end meanwhile are kept. Its
 * verdict is not, without a key. */
static bool run_test(struct exploration *x, const struct verdict_key *key, uint64_t told_until,
                     bool watched, struct verdict *out, struct error *e)
{
    struct pool_verdict from = {.ticket = 0};
    uint64_t ticket = test_ticket + x->tests++;
    size_t told = 0;
    int worker;
    if (interrupted(x))
        return error_set(e, INTERRUPTED);
    if (!start_checker(x, ticket, told_until, &worker, e))
        return false;
    for (;;) {
        if (worker < 0 || interrupted(x))
            return error_set(e, INTERRUPTED);
        bool ended = pool_wait(x->pool, &from, WAIT_MS);
        if (ended && from.ticket == ticket)
            break;
        const char *bytes;
        size_t n = pool_output(x->pool, worker, &bytes);
        if (watched)
            hand_on(x, bytes, n, &told);
        if (ended ? !keep_verdict(x, &from, e) : !verdicts_flush_old(x->verdicts, e))
            return false;
    }
    x->running--;
    if (watched)
        hand_on(x, from.output, from.output_size, &told);
    *out = verdict_of(&from);
    count_time(&x->counts, &from);
    bool done = out->kind == VERDICT_NOT_RUN
                    ? error_set(e, "a checker could not be run: %s", out->output)
                    : !key || exploration_keep_verdict(x, key, out, e);
    if (!done)
        verdict_clear(out);
    return done;
}

bool exploration_test(struct exploration *x, const bool *survives, uint32_t last,
                      uint64_t told_until, struct verdict *out, struct error *e)
{
    if (!stepper_go_set(x->stepper, survives, last, e))
        return false;
    struct verdict_key key = key_at(x, told_until);
    bool added;
    map_put(&x->seen, &key, sizeof key, &added);
    x->counts.shrinking += added;
    if (!wait_for_state(x, &key, e))
        return false;
    return find_verdict(x, &key, out) || run_test(x, &key, told_until, false, out, e);
}

bool exploration_watch(struct exploration *x, const bool *survives, uint32_t last,
                       uint64_t told_until, struct verdict *out, struct error *e)
{
    if (!stepper_go_set(x->stepper, survives, last, e))
        return false;
    struct verdict_key key = key_at(x, told_until);
    return run_test(x, &key, told_until, true, out, e);
}

bool exploration_repeat(struct exploration *x, const bool *survives, uint32_t last,
                        uint64_t told_until, struct verdict *out, struct error *e)
{
    return stepper_go_set(x->stepper, survives, last, e) &&
           run_test(x, NULL, told_until, false, out, e);
}
