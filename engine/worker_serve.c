/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The side of engine/worker.h that works: takes requests, does one job after the other, and looks
 * for requests meanwhile, so that a job can be paused and ended.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/check.h"
#include "engine/clock.h"
#include "engine/escape.h"
#include "engine/fix.h"
#include "engine/vec.h"
#include "engine/worker.h"

enum { READ_SIZE = 4096 };

/* Not more often than eyes can follow, and requests are looked for a little more often. */
static const uint64_t progress_every = 50 * NANOSECONDS_PER_MS;
static const uint64_t look_every = 10 * NANOSECONDS_PER_MS;
/* Over how long the rate is measured. */
static const uint64_t rate_over = NANOSECONDS_PER_SECOND;

struct server {
    struct session *session;
    int in, out;
    struct buf received;
    /* What was said and is not taken yet: who asked may be suspended, and the job goes on. It holds
     * what was found, which the exploration holds as well, but of progress only what fits. */
    struct buf unsent;
    size_t sent;           /* bytes of unsent that are gone */
    bool behind;           /* progress was left out, and is told when there is room again */
    vec_of(json_t *) jobs; /* those to come */
    uint32_t job;          /* the number of the one at hand */
    bool paused, halt, quit;
    bool resting;          /* the pause has begun */
    uint64_t looked, told; /* when */
    const char *phase;
    struct explore_counts counts; /* as they were told of last */
    /* For the rate: where it was at the beginning of this second, and in the one before. */
    uint64_t measured, measured_enumerated;
    double rate;
    /* What tests of single states need, kept for the next one: of this model and these fixes. */
    struct analysis *analysis;
    char *analysed;
    char *checker; /* of the last check, for the job at hand */
};

/* ---- talking ---- */

/* As much as is taken at once. Who tries it by hand, on a pipe, is waited for. */
static ssize_t put(int out, const char *bytes, size_t n)
{
    ssize_t sent = send(out, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 && errno == ENOTSOCK ? write(out, bytes, n) : sent;
}

static void send_unsent(struct server *s)
{
    struct buf *b = &s->unsent;
    while (s->sent < b->n && !s->quit) {
        ssize_t n = put(s->out, b->at + s->sent, b->n - s->sent);
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0 && errno != EINTR)
            s->quit = true; /* nobody listens any more */
        s->sent += n > 0 ? (size_t)n : 0;
    }
    if (s->sent <= b->n / 2 && s->sent < b->n)
        return;
    /* Not with each few bytes: what is left may be long. */
    if (s->sent < b->n)
        memmove(b->at, b->at + s->sent, b->n - s->sent);
    b->n -= s->sent;
    s->sent = 0;
}

static void say(struct server *s, json_t *event)
{
    char *line = json_dumps(event, JSON_COMPACT);
    if (line) {
        buf_text(&s->unsent, line);
        buf_char(&s->unsent, '\n');
    }
    free(line);
    json_decref(event);
    send_unsent(s);
}

static json_t *event(const struct server *s, const char *name)
{
    return json_pack("{s:s, s:i}", "event", name, "job", (int)s->job);
}

static void set(json_t *o, const char *key, uint64_t number)
{
    json_object_set_new(o, key, json_integer((json_int_t)number));
}

static void set_unless_none(json_t *o, const char *key, uint32_t number)
{
    if (number != NO_OP)
        set(o, key, number);
}

static void say_failed(struct server *s, const struct error *e)
{
    json_t *o = event(s, "failed");
    json_object_set_new(o, "text", report_string(e->text));
    say(s, o);
}

static void measure(struct server *s, const struct explore_counts *c)
{
    uint64_t now = clock_now();
    if (now - s->measured < rate_over && s->rate > 0)
        return;
    if (now > s->measured && s->measured && c->enumerated >= s->measured_enumerated)
        s->rate = (double)(c->enumerated - s->measured_enumerated) *
                  (double)NANOSECONDS_PER_SECOND / (double)(now - s->measured);
    if (now - s->measured >= rate_over) {
        s->measured = now;
        s->measured_enumerated = c->enumerated;
    }
}

/* One that cannot be sent is left out: the next one says more. */
static void say_progress(struct server *s, const struct explore_counts *c)
{
    measure(s, c);
    s->told = clock_now();
    send_unsent(s);
    s->behind = s->unsent.n > 0;
    if (s->behind)
        return;
    json_t *o = event(s, "progress");
    bool known = c->expected > c->enumerated && s->rate > 0;
    set(o, "enumerated", c->enumerated);
    set(o, "distinct", c->distinct);
    set(o, "tested", c->tested);
    set(o, "reused", c->reused);
    set(o, "inconsistent", c->inconsistent);
    set(o, "shrinking", c->shrinking);
    set(o, "expected", c->expected);
    set(o, "units", c->units);
    json_object_set_new(o, "rate", json_real(s->rate));
    json_object_set_new(o, "seconds_left",
                        json_real(known ? (double)(c->expected - c->enumerated) / s->rate : -1));
    json_object_set_new(o, "phase", json_string(s->phase));
    json_object_set_new(o, "paused", json_boolean(s->paused));
    say(s, o);
}

/* ---- listening ---- */

static void take_request(struct server *s, json_t *o)
{
    const char *what = json_string_value(json_object_get(o, "do"));
    what = what ? what : "";
    /* Meant is the job at hand or the next, which may not have begun yet: those who ask do not
     * wait for it. */
    bool busy = s->job || s->jobs.n;
    if (!strcmp(what, "pause"))
        s->paused = busy;
    else if (!strcmp(what, "resume"))
        s->paused = false;
    else if (!strcmp(what, "halt")) {
        s->halt = busy;
        s->paused = false; /* what ends is not waiting any more */
    } else if (!strcmp(what, "quit"))
        s->quit = true;
    else
        vec_push(&s->jobs, json_incref(o));
}

/* The first `seen` bytes have no end of a line: a long one comes in many pieces, and is not
 * searched through again with each. */
static void take_lines(struct server *s, size_t seen)
{
    char *from = s->received.at, *end;
    size_t left = s->received.n;
    while (left > seen && (end = memchr(from + seen, '\n', left - seen))) {
        json_t *o = json_loadb(from, (size_t)(end - from), 0, NULL);
        if (o)
            take_request(s, o);
        json_decref(o);
        left -= (size_t)(end + 1 - from);
        from = end + 1;
        seen = 0;
    }
    if (left)
        memmove(s->received.at, from, left);
    s->received.n = left;
}

/* There is room again for what could not be sent. */
static void catch_up(struct server *s)
{
    send_unsent(s);
    if (s->behind && !s->unsent.n)
        say_progress(s, &s->counts);
}

/* Takes requests that are there, or waits until there is something to do. */
static void listen_for(struct server *s, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = s->in, .events = POLLIN},
                           {.fd = s->unsent.n ? s->out : -1, .events = POLLOUT}};
    char bytes[READ_SIZE];
    s->looked = clock_now();
    if (poll(fds, sizeof fds / sizeof *fds, timeout_ms) <= 0)
        return;
    if (fds[1].revents)
        catch_up(s);
    if (!fds[0].revents)
        return;
    ssize_t n = read(s->in, bytes, sizeof bytes);
    if (n > 0) {
        size_t seen = s->received.n;
        buf_add(&s->received, bytes, (size_t)n);
        take_lines(s, seen);
    } else if (n == 0 || errno != EINTR)
        s->quit = true;
}

static bool is_to_end(void *data)
{
    struct server *s = data;
    if (clock_now() - s->looked > look_every)
        listen_for(s, 0);
    return s->halt || s->quit;
}

static bool progress(void *data, const struct explore_counts *counts)
{
    struct server *s = data;
    s->counts = *counts;
    if (clock_now() - s->told > progress_every)
        say_progress(s, counts);
    return !is_to_end(s);
}

static bool paused(void *data)
{
    struct server *s = data;
    bool was_resting = s->resting;
    if (was_resting) /* what was found is on the disk by now */
        listen_for(s, -1);
    s->resting = !is_to_end(s) && s->paused;
    if (s->resting != was_resting) {
        s->rate = 0;
        s->measured = 0;
        say_progress(s, &s->counts);
    }
    return s->resting;
}

/* ---- what a job says ---- */

static bool read_fixes(struct server *s, const json_t *job, struct fix_list *out, struct error *e)
{
    size_t i;
    const json_t *json;
    vec_of(struct fix) fixes = {0};
    bool ok = true;
    json_array_foreach(json_object_get(job, "fixes"), i, json)
    {
        struct fix fix = {0};
        ok = ok && (fix_from_json(json, &fix) || error_set(e, "that is no sync to pretend")) &&
             fix_valid(s->session, &fix, e);
        vec_push(&fixes, fix);
    }
    *out = (struct fix_list){.at = fixes.at, .n = fixes.n};
    return ok;
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && *text ? text : NULL;
}

/* What the job says, else the last check's report, else the target. The caller frees it. */
static char *choose(struct server *s, const json_t *job, const json_t *report, const char *key,
                    const char *otherwise)
{
    const char *given = text_of(job, key), *checked = text_of(report, key);
    const char *meta = session_meta(s->session, key);
    return xstrdup(given ? given : checked ? checked : meta && *meta ? meta : otherwise);
}

static char *choose_model(struct server *s, const json_t *job, const json_t *report)
{
    const char *switches = text_of(report, "model_switches");
    char *name = choose(s, job, report, "model", model_table()[0]->name);
    if (text_of(job, "model") || !text_of(report, "model") || !switches)
        return name;
    char *whole = xasprintf("%s %s", name, switches);
    free(name);
    return whole;
}

/* The options that a job of any kind has. Texts in it are the job's or the session's. */
static bool read_options(struct server *s, const json_t *job, struct check_options *out,
                         struct error *e)
{
    json_t *report = report_load(s->session, NULL);
    char *model = choose_model(s, job, report);
    char *strategy = choose(s, job, report, "strategy", strategy_name(STRATEGY_REPRESENTATIVE));
    double timeout = json_number_value(json_object_get(job, "timeout"));
    if (timeout == 0)
        timeout = (double)check_setting(s->session, "timeout", EXPLORE_TIMEOUT);
    *out = (struct check_options){
        .explore = {.checker = text_of(job, "checker"),
                    .budget = (uint64_t)json_integer_value(json_object_get(job, "budget")),
                    .seed = (uint64_t)json_integer_value(json_object_get(job, "seed")),
                    .jobs = (int)json_integer_value(json_object_get(job, "jobs")),
                    .timeout = timeout > 0 ? timeout : 0, /* no limit */
                    .acknowledgements = true,
                    .progress = progress,
                    .paused = paused,
                    .data = s}};
    bool ok =
        model_find(model, &out->model, e) && strategy_find(strategy, &out->explore.strategy, e);
    /* A session that was recorded without a target has its checker from the last check alone. */
    if (!out->explore.checker && !session_meta(s->session, "checker") &&
        text_of(report, "checker")) {
        free(s->checker);
        out->explore.checker = s->checker = xstrdup(text_of(report, "checker"));
    }
    free(model);
    free(strategy);
    json_decref(report);
    return ok && check_complete(out, s->session, e);
}

/* ---- checks ---- */

static void say_state(void *data, uint64_t number, const struct explored *state)
{
    struct server *s = data;
    json_t *o = event(s, "state");
    set(o, "number", number);
    set(o, "verdict", state->verdict);
    set_unless_none(o, "last", state->schedule.last);
    set_unless_none(o, "behaviour", state->behaviour);
    set_unless_none(o, "group", state->group);
    say(s, o);
}

static void say_bug(void *data, const json_t *bug)
{
    struct server *s = data;
    json_t *o = event(s, "bug");
    json_object_set_new(o, "bug", json_deep_copy(bug));
    say(s, o);
}

static bool do_check(struct server *s, const json_t *job, struct error *e)
{
    struct check_options options;
    struct fix_list fixes = {0};
    struct interrupt interrupt = {is_to_end, s};
    json_t *report = NULL;
    bool done = read_options(s, job, &options, e) && read_fixes(s, job, &fixes, e);
    if (done) {
        options.fixes = fixes.at;
        options.fix_count = fixes.n;
        options.verify = true;
        options.interrupt = &interrupt;
        options.inconsistent = say_state;
        options.bug = say_bug;
        s->phase = "testing";
        done = check_run(s->session, &options, &report, e);
    }
    if (done) {
        json_t *o = event(s, "done");
        say_progress(s, &s->counts);
        json_object_set_new(o, "report", report);
        say(s, o);
    }
    fixes_free(&fixes);
    return done;
}

/* ---- single states ---- */

/* The analysis of a model with syncs pretended, made anew when the last was of another. */
static bool analyse(struct server *s, const struct check_options *options, struct error *e)
{
    struct interrupt interrupt = {is_to_end, s};
    struct analysis_options how = {.model = options->model,
                                   .behaviours = analysis_behaviours(s->session),
                                   .fixes = options->fixes,
                                   .fix_count = options->fix_count,
                                   .interrupt = &interrupt};
    struct buf key = {0};
    char *model = model_text(&options->model);
    buf_text(&key, model);
    for (size_t i = 0; i < options->fix_count; i++)
        buf_printf(&key, " %u(%u,%llu)@%llu", options->fixes[i].call, options->fixes[i].file,
                   (unsigned long long)options->fixes[i].store,
                   (unsigned long long)options->fixes[i].after);
    free(model);
    bool done = s->analysis && !strcmp(s->analysed, buf_string(&key));
    if (!done) {
        analysis_free(s->analysis);
        s->analysis = NULL;
        free(s->analysed);
        s->analysed = xstrdup(buf_string(&key));
        done = analysis_new(&s->analysis, s->session, &how, e);
    }
    buf_free(&key);
    return done;
}

static void say_output(void *data, const char *bytes, size_t n)
{
    struct server *s = data;
    json_t *o = event(s, "output");
    char *text = escape_zeros(bytes, n);
    json_object_set_new(o, "text", report_string(text));
    say(s, o);
    free(text);
}

/* The set of survivors that a job describes; an error when no crash can leave it. */
static bool read_survivors(const struct graph *g, const json_t *job, uint32_t *last, bool *survives,
                           struct error *e)
{
    size_t i;
    const json_t *lost, *end = json_object_get(job, "last");
    json_int_t n = json_is_integer(end) ? json_integer_value(end) + 1 : 0;
    if (n < 0 || (uint64_t)n > g->n)
        return error_set(e, "there is no op %lld", (long long)n - 1);
    memset(survives, true, (size_t)n * sizeof *survives);
    json_array_foreach(json_object_get(job, "lost"), i, lost)
    {
        json_int_t op = json_integer_value(lost);
        if (op < 0 || op >= n)
            return error_set(e, "op %lld cannot be lost: it was not issued", (long long)op);
        survives[op] = false;
    }
    uint64_t durable = NEVER;
    for (uint32_t op = 0; op < n; op++) {
        if (!survives[op]) {
            durable = g->durable[op] < durable ? g->durable[op] : durable;
            continue;
        }
        if (g->issued[op] > durable)
            return error_set(e, "op %u cannot survive: something lost was durable before it",
                             (unsigned)op);
        for (uint32_t k = g->first[op]; k < g->first[op + 1]; k++)
            if (!survives[g->edges[k].from])
                return error_set(e, "op %u cannot survive without op %u", (unsigned)op,
                                 (unsigned)g->edges[k].from);
    }
    *last = n ? (uint32_t)n - 1 : NO_OP;
    return true;
}

/* Just before the first sync that makes a lost op durable. */
static uint64_t crash_of(const struct graph *g, const bool *survives)
{
    uint64_t crash = NEVER;
    for (size_t i = 0; i < g->n; i++)
        if (!survives[i] && g->durable[i] < crash)
            crash = g->durable[i];
    return crash;
}

static void say_verdict(struct server *s, const struct verdict *v)
{
    json_t *o = event(s, "verdict");
    set(o, "verdict", v->kind);
    set(o, "exit", (uint64_t)v->exit);
    set(o, "signal", (uint64_t)v->signal);
    json_object_set_new(o, "seconds", json_real(v->seconds));
    say(s, o);
}

static bool test_state(struct server *s, const json_t *job, struct check_options *options,
                       struct error *e)
{
    struct exploration *x = NULL;
    const struct graph *g = s->analysis->graph;
    bool *survives = xcalloc(g->n + 1, sizeof *survives);
    const json_t *told = json_object_get(job, "told_until");
    uint32_t last = NO_OP;
    struct verdict verdict = {0};
    options->explore.jobs = 1;
    options->explore.output = say_output;
    bool done = read_survivors(g, job, &last, survives, e) &&
                exploration_new(&x, s->analysis, &options->explore, e) &&
                exploration_watch(x, survives, last,
                                  json_is_integer(told) ? (uint64_t)json_integer_value(told)
                                                        : crash_of(g, survives),
                                  &verdict, e) &&
                exploration_flush(x, e);
    if (done)
        say_verdict(s, &verdict);
    verdict_clear(&verdict);
    exploration_free(x);
    free(survives);
    return done;
}

static bool do_test(struct server *s, const json_t *job, struct error *e)
{
    struct check_options options;
    struct fix_list fixes = {0};
    bool done = read_options(s, job, &options, e) && read_fixes(s, job, &fixes, e);
    options.fixes = fixes.at;
    options.fix_count = fixes.n;
    done = done && analyse(s, &options, e) && test_state(s, job, &options, e);
    fixes_free(&fixes);
    return done;
}

/* ---- serving ---- */

static void do_job(struct server *s, const json_t *job)
{
    struct error e;
    const char *what = json_string_value(json_object_get(job, "do"));
    s->job = (uint32_t)json_integer_value(json_object_get(job, "job"));
    s->counts = (struct explore_counts){0};
    s->measured = s->told = 0;
    s->rate = 0;
    s->phase = "analysing";
    session_read_meta_again(s->session); /* somebody else may have checked it since */
    say_progress(s, &s->counts);
    bool done = what && !strcmp(what, "check") ? do_check(s, job, &e)
                : what && !strcmp(what, "test")
                    ? do_test(s, job, &e)
                    : error_set(&e, "%s cannot be done here", what ? what : "that");
    if (!done)
        say_failed(s, &e);
    s->job = 0;
    s->halt = s->behind = false;
    s->paused = s->resting = false;
}

bool worker_serve(const char *session, int in, int out, struct error *e)
{
    struct server s = {.in = in, .out = out, .phase = ""};
    signal(SIGPIPE, SIG_IGN);
    if (!session_open(&s.session, session, e))
        return false;
    while (!s.quit) {
        if (!s.jobs.n) {
            listen_for(&s, -1);
            continue;
        }
        json_t *job = s.jobs.at[0];
        memmove(s.jobs.at, s.jobs.at + 1, --s.jobs.n * sizeof *s.jobs.at);
        do_job(&s, job);
        json_decref(job);
    }
    for (size_t i = 0; i < s.jobs.n; i++)
        json_decref(s.jobs.at[i]);
    vec_free(&s.jobs);
    buf_free(&s.received);
    buf_free(&s.unsent);
    analysis_free(s.analysis);
    free(s.analysed);
    free(s.checker);
    session_close(s.session);
    return true;
}
