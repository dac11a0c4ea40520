/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/graph.h"
#include "engine/litmus_states.h"
#include "engine/litmus_why.h"
#include "tests/kernel/crash.h"
#include "tests/kernel/look.h"
#include "tests/kernel/run.h"

static struct trial_state *state_of(struct trial *t, const char *text)
{
    uint64_t *place = map_put(&t->index, text, strlen(text), NULL);
    if (!*place) {
        vec_push(&t->states, (struct trial_state){.text = xstrdup(text)});
        *place = t->states.n;
    }
    return &t->states.at[*place - 1];
}

bool trial_missed(const struct trial_state *s)
{
    return s->is_seen && (!s->is_allowed || s->seen_after > s->allowed_after);
}

bool trial_unseen(const struct trial_state *s)
{
    return s->is_allowed && (!s->is_seen || s->seen_after < s->allowed_after);
}

void trial_free(struct trial *t)
{
    for (size_t i = 0; i < t->states.n; i++) {
        free(t->states.at[i].text);
        free(t->states.at[i].why);
    }
    vec_free(&t->states);
    map_free(&t->index);
}

/* ---- the model's side ---- */

struct allowing {
    struct trial *trial;
    const struct graph *graph;
};

static void allow(void *data, const struct litmus_state *state)
{
    struct allowing *a = data;
    struct trial_state *s = state_of(a->trial, state->text);
    unsigned prints = 0;
    for (const char *at = state->printed; *at; at++)
        prints += *at == '\n';
    if (s->is_allowed && prints <= s->allowed_after)
        return;
    s->is_allowed = true;
    s->allowed_after = prints;
    struct buf why = {0};
    litmus_why(a->trial->litmus, a->graph, state->survived, &why);
    free(s->why);
    s->why = xstrdup(buf_string(&why));
    buf_free(&why);
}

bool trial_allow(struct trial *t, const struct litmus *l, const struct model *model,
                 struct error *e)
{
    struct graph *g = NULL;
    t->litmus = l;
    bool ok = graph_build(&g, model, litmus_source(l), e) &&
              litmus_states(l, g, allow, &(struct allowing){t, g}, e);
    graph_free(g);
    return ok;
}

/* ---- the kernel's side ---- */

struct looking {
    struct trial *trial;
    struct device *device;
    const size_t *marks;
    uint64_t seed;
    struct map known; /* an image's hash → the place of its state, plus 1 */
    struct error *error;
};

static unsigned printed_by(const struct looking *k, size_t position)
{
    unsigned prints = 0;
    for (uint64_t n = 1; n <= litmus_events(k->trial->litmus); n++)
        prints +=
            litmus_event(k->trial->litmus, n)->call == CALL_PRINT && k->marks[n - 1] <= position;
    return prints;
}

/* Mounts the image and reads what it holds. One that cannot be mounted is a state as well. */
static bool read_image(struct looking *k, const struct crash_image *image, struct buf *text)
{
    int root;
    struct error why;
    disk_image(k->device->disk, image->entries, image->n);
    if (device_mount(k->device, &root, &why)) {
        look_at(root, RUN_DATA, text);
        close(root);
    } else
        buf_printf(text, "(%s)", strerrorname_np(errno));
    k->trial->images++;
    disk_image_end(k->device->disk);
    return device_forget(k->device, k->error);
}

static bool look_at_image(void *data, const struct crash_image *image)
{
    struct looking *k = data;
    bool added;
    uint64_t *known = map_put(&k->known, &image->hash, sizeof image->hash, &added);
    if (added) {
        struct buf text = {0};
        bool ok = read_image(k, image, &text);
        struct trial_state *s = state_of(k->trial, buf_string(&text));
        *known = (uint64_t)(s - k->trial->states.at) + 1;
        buf_free(&text);
        if (!ok)
            return false;
    }
    struct trial_state *s = &k->trial->states.at[*known - 1];
    unsigned prints = printed_by(k, image->position);
    if (!s->is_seen || prints > s->seen_after) {
        s->seen_after = prints;
        s->seed = k->seed;
    }
    s->is_seen = true;
    s->images += added;
    return true;
}

/* Microseconds that the device may take for a write: long enough for a commit beside it. */
enum { DELAY_MOST = 3000 };

static bool record(struct trial *t, struct device *device, struct chance *chance, size_t *marks,
                   size_t *logged, struct error *e)
{
    int root = -1;
    disk_back(device->disk);
    bool ok = device_forget(device, e) && device_mount(device, &root, e) &&
              run_begin(t->litmus, root, chance, e);
    /* Half of the time with nothing of the files in memory. */
    if (ok && chance_below(chance, 2)) {
        close(root);
        root = -1;
        ok = device_mount(device, &root, e);
    }
    if (ok) {
        disk_log(device->disk);
        disk_set_delay(device->disk, chance_below(chance, 2) ? DELAY_MOST : 0);
        ok = run_calls(t->litmus, root, device->disk, chance, marks, e);
        disk_set_delay(device->disk, 0);
        *logged = disk_logged(device->disk);
    }
    if (root >= 0)
        close(root);
    return ok && device_forget(device, e);
}

bool trial_run(struct trial *t, struct device *device, uint64_t seed, size_t images,
               struct error *e)
{
    struct chance chance = chance_new(seed);
    size_t *marks = xcalloc(litmus_events(t->litmus) + 1, sizeof *marks), logged = 0;
    struct looking k = {.trial = t, .device = device, .marks = marks, .seed = seed, .error = e};
    bool ok = record(t, device, &chance, marks, &logged, e) &&
              crash_images(device->disk, logged, images, &chance, look_at_image, &k);
    map_free(&k.known);
    free(marks);
    return ok;
}
