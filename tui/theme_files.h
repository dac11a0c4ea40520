/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * theme_files: the themes of the source tree, inside the program.
 */
#ifndef TUI_THEME_FILES_H
#define TUI_THEME_FILES_H

/* The text of a theme that is compiled in, or NULL. */
const char *theme_text(const char *name);

/* Their names, ended by NULL. */
const char *const *theme_names(void);

#endif
