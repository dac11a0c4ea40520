/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * settings: what holds for a check when several have their say (engine/config.h): the system's and
 * the user's config, the target's or what the session kept of it, the environment, options.
 */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include "engine/config.h"
#include "engine/model.h"
#include "engine/session.h"

/* The models' switches as a config takes them, under [model]. */
const struct config_switch *settings_switches(void);

/* All that is said of a recorded session but for options: its own settings in the target's place,
 * without its model when that is another's to say. c is to be freed in any case. */
bool settings_of_session(struct config *c, struct session *s, bool with_model, struct error *e);

/* A model as model_find takes it. */
bool settings_take_model(struct config *c, const char *text, const char *origin, struct error *e);

/* The model that a config names, with its switches. One that was set for another model, before this
 * one was named elsewhere, does not count. */
bool settings_model(const struct config *c, struct model *out, struct error *e);

#endif
