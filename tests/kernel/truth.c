/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * truth: the models against real kernels.
 *
 *     truth [--fs NAME] [--options MOUNT-OPTIONS] [--seeds N] [--images N] [--random N]
 *           [--random-seeds N] [--first N] [--jobs N] [--quick] [FILE.litmus...]
 *
 * Each litmus program runs on a real file system with as many seeds, crash images of its device are
 * mounted and read, and what they hold is held against what the model allows; then as many random
 * programs. With --quick, seeds are too few to hold against a model what was not seen. Exit status:
 * 0 when they agree, 1 when they do not, 77 when this machine cannot run it, 2 when something else
 * went wrong.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/vec.h"
#include "tests/kernel/options.h"
#include "tests/kernel/programs.h"
#include "tests/kernel/report.h"
#include "tests/kernel/workers.h"

enum { AGREE, DISAGREE, FAILED, SKIPPED = 77 };

struct item {
    char *name, *text;
    bool random;
};

struct truth {
    const struct device_fs *fs;
    const char *options;
    struct buf model_words;
    struct model model;
    size_t seeds, images, random, random_seeds, jobs;
    bool quick;
    uint64_t first;
    vec_of(struct item) items;
    struct report sum;
    size_t image_sum, different;
    double begun;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- in a worker ---- */

struct result {
    struct report report;
    size_t images;
};

static struct report look_at_trial(const struct truth *t, const struct trial *trial,
                                   const struct expected *x, struct buf *out)
{
    struct buf nothing = {0};
    struct report r = report_trial(trial, x, buf_string(&t->model_words), out ? out : &nothing);
    buf_free(&nothing);
    return r;
}

/* Whether another seed is to be tried. A program of a file goes through all of them, and through
 * more while something allowed is unseen that has no reason: it may just be rare. Others go on
 * until something is wrong. */
static bool wants_more(const struct truth *t, const struct trial *trial, const struct expected *x,
                       size_t done, size_t seeds)
{
    enum { AT_MOST = 6 }; /* times the seeds */
    if (!x)
        return done < seeds && !look_at_trial(t, trial, x, NULL).missed;
    if (done < seeds || t->quick)
        return done < seeds;
    return done < seeds * AT_MOST && look_at_trial(t, trial, x, NULL).unjustified;
}

static bool try_program(const struct truth *t, struct device *device, const char *text,
                        const struct expected *x, size_t seeds, uint64_t first,
                        struct result *result, struct buf *out, struct error *e)
{
    struct litmus *litmus;
    struct trial trial = {0};
    if (!litmus_parse(&litmus, text, "program", e))
        return false;
    bool ok = trial_allow(&trial, litmus, &t->model, e);
    for (size_t done = 0; ok && wants_more(t, &trial, x, done, seeds); done++)
        ok = trial_run(&trial, device, first + done, t->images, e);
    if (ok) {
        result->report = look_at_trial(t, &trial, x, out);
        result->images += trial.images;
    }
    trial_free(&trial);
    litmus_free(litmus);
    return ok;
}

/* Whether it still is a program on which kernel and model differ. */
struct shrinking {
    const struct truth *truth;
    struct device *device;
    uint64_t first;
    struct result *result;
};

static bool still_differs(void *data, const char *text)
{
    enum { MORE = 4 }; /* times the seeds: what is rare must not be taken for gone */
    struct shrinking *s = data;
    struct buf out = {0};
    struct error e;
    struct result r = {0};
    bool differs = try_program(s->truth, s->device, text, NULL, s->truth->random_seeds * MORE,
                               s->first, &r, &out, &e) &&
                   r.report.missed;
    s->result->images += r.images;
    buf_free(&out);
    return differs;
}

static bool work(void *data, struct device *device, size_t number, struct buf *out, void *answer,
                 struct error *e)
{
    const struct truth *t = data;
    const struct item *item = &t->items.at[number];
    struct result *result = answer;
    struct expected x = {0};
    struct buf lines = {0};
    double begun = seconds();
    uint64_t first = t->first + (item->random ? number * UINT64_C(1000) : 0);
    bool ok = expected_read(&x, item->text, item->name, e) &&
              try_program(t, device, item->text, item->random ? NULL : &x,
                          item->random ? t->random_seeds : t->seeds, first, result, &lines, e);
    if (ok && item->random && result->report.missed) {
        char *shrunk = programs_shrink(item->text, still_differs,
                                       &(struct shrinking){t, device, first, result});
        struct result again = {0};
        buf_printf(out, "%s shrunk to\n%s", item->name, shrunk);
        ok = try_program(t, device, shrunk, NULL, t->random_seeds * 4, first, &again, &lines, e);
        free(shrunk);
    }
    if (ok && (!item->random || lines.n))
        buf_printf(out, "%-36s %3u seen %3u allowed %6zu images %5.1f s\n%s", item->name,
                   result->report.seen, result->report.allowed, result->images, seconds() - begun,
                   buf_string(&lines));
    if (!ok)
        error_prefix(e, "%s", item->name);
    buf_free(&lines);
    expected_free(&x);
    return ok;
}

/* ---- the sum ---- */

static void take_answer(void *data, size_t number, const char *text, const void *answer)
{
    struct truth *t = data;
    const struct result *r = answer;
    (void)number;
    fputs(text, stdout);
    fflush(stdout);
    t->sum.seen += r->report.seen;
    t->sum.allowed += r->report.allowed;
    t->sum.missed += r->report.missed;
    t->sum.unseen += r->report.unseen;
    t->sum.unjustified += r->report.unjustified;
    t->image_sum += r->images;
    t->different += r->report.missed || (r->report.unjustified && !t->quick);
}

static void print_sum(const struct truth *t, const char *what, size_t programs)
{
    const struct report *r = &t->sum;
    printf("%s%s%s: %zu %s, %zu images, %.0f s: %u states allowed, %u of them seen (%.0f %%), "
           "%u seen but not allowed, %u unseen without a reason\n",
           t->fs->name, *t->options ? "," : "", t->options, programs, what, t->image_sum,
           seconds() - t->begun, r->allowed, r->allowed - r->unseen,
           r->allowed ? 100.0 * (r->allowed - r->unseen) / r->allowed : 100.0, r->missed,
           r->unjustified);
    fflush(stdout);
}

static bool run_items(struct truth *t, const char *what, struct error *e)
{
    t->sum = (struct report){0};
    t->image_sum = 0;
    t->begun = seconds();
    struct workers w = {.fs = t->fs,
                        .options = t->options,
                        .jobs = t->jobs,
                        .items = t->items.n,
                        .answer_size = sizeof(struct result),
                        .work = work,
                        .take = take_answer,
                        .data = t};
    bool ok = !t->items.n || workers_run(&w, e);
    if (ok && t->items.n)
        print_sum(t, what, t->items.n);
    return ok;
}

/* ---- programs to try ---- */

static void forget_items(struct truth *t)
{
    for (size_t i = 0; i < t->items.n; i++) {
        free(t->items.at[i].name);
        free(t->items.at[i].text);
    }
    vec_free(&t->items);
}

static bool read_files(struct truth *t, char **paths, struct error *e)
{
    for (; *paths; paths++) {
        const char *slash = strrchr(*paths, '/');
        struct item item = {.name = xstrdup(slash ? slash + 1 : *paths)};
        char *end = strstr(item.name, ".litmus");
        if (end)
            *end = '\0';
        vec_push(&t->items, item);
        if (!expected_read_text(*paths, &vec_last(&t->items).text, e))
            return false;
    }
    return true;
}

static void make_random(struct truth *t)
{
    static const struct programs_shape shape = {.least = 3, .most = 6, .ranges = true};
    for (size_t i = 0; i < t->random; i++) {
        uint64_t seed = t->first + i;
        struct item item = {xasprintf("random program %llu", (unsigned long long)seed),
                            programs_random(seed, &shape), true};
        vec_push(&t->items, item);
    }
}

/* ---- the command ---- */

static bool take_number(const char *text, size_t *out, struct error *e)
{
    char *end;
    *out = strtoul(text, &end, 10);
    return (*text && !*end) || error_set(e, "not a number: %s", text);
}

static bool take_options(struct truth *t, int argc, char **argv, struct error *e)
{
    static const struct option options[] = {
        {"fs", required_argument, NULL, 'f'},     {"options", required_argument, NULL, 'o'},
        {"seeds", required_argument, NULL, 's'},  {"images", required_argument, NULL, 'i'},
        {"random", required_argument, NULL, 'r'}, {"random-seeds", required_argument, NULL, 'S'},
        {"first", required_argument, NULL, '1'},  {"jobs", required_argument, NULL, 'j'},
        {"quick", no_argument, NULL, 'q'},        {0},
    };
    size_t first = 1;
    bool ok = true;
    for (int c; ok && (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (c) {
        case 'f':
            t->fs = device_fs(optarg);
            ok = t->fs || error_set(e, "no file system %s; there are ext4, xfs and btrfs", optarg);
            break;
        case 'o':
            t->options = optarg;
            break;
        case 's':
            ok = take_number(optarg, &t->seeds, e);
            break;
        case 'i':
            ok = take_number(optarg, &t->images, e);
            break;
        case 'r':
            ok = take_number(optarg, &t->random, e);
            break;
        case 'S':
            ok = take_number(optarg, &t->random_seeds, e);
            break;
        case '1':
            ok = take_number(optarg, &first, e);
            break;
        case 'j':
            ok = take_number(optarg, &t->jobs, e);
            break;
        case 'q':
            t->quick = true;
            break;
        default:
            ok = error_set(e, "an option that truth does not know");
        }
    t->first = first;
    t->images = t->images || !t->fs ? t->images : t->fs->images;
    return ok && options_model(t->fs->name, t->options, &t->model_words, e) &&
           expected_model(buf_string(&t->model_words), &t->model, e);
}

static int fail(const struct error *e, int status)
{
    fflush(stdout);
    fprintf(stderr, "truth: %s\n", e->text);
    return status;
}

int main(int argc, char **argv)
{
    struct truth t = {.options = "", .seeds = 30, .random_seeds = 4};
    struct error e;
    t.fs = device_fs("ext4");
    t.jobs = 2 * (size_t)sysconf(_SC_NPROCESSORS_ONLN); /* much of a mount is waiting */
    if (!take_options(&t, argc, argv, &e))
        return fail(&e, FAILED);
    if (!device_possible(t.fs, &e))
        return fail(&e, SKIPPED);
    bool ok = read_files(&t, argv + optind, &e) && run_items(&t, "litmus programs", &e);
    forget_items(&t);
    make_random(&t);
    ok = ok && run_items(&t, "random programs", &e);
    forget_items(&t);
    buf_free(&t.model_words);
    if (!ok)
        return fail(&e, FAILED);
    return t.different ? DISAGREE : AGREE;
}
