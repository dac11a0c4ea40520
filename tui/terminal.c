/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/terminal.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>

#include "engine/mem.h"
#include "tui/rescue.h"

enum {
    ESCAPE_DELAY_MS = 25, /* how long an escape sequence may take to arrive */
    FEW_COLOURS = 8,
    SOME_COLOURS = 16,
    MANY_COLOURS = 256,
};

struct terminal {
    bool colours;
    bool reversed; /* no colours: a background is shown by reversing */
};

/* ---- taking and giving back ---- */

static bool wants_colours(void)
{
    const char *no = getenv("NO_COLOR");

    return !(no && no[0]) && has_colors();
}

static void set_modes(void)
{
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_DELAY_MS);
    mousemask(BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON1_PRESSED | BUTTON4_PRESSED |
                  BUTTON5_PRESSED,
              NULL);
    mouseinterval(200);
    curs_set(0);
}

bool terminal_open(struct terminal **out, struct error *e)
{
    const char *name = getenv("TERM");
    bool moves;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return error_set(e,
                         "the debugger wants a terminal; without one, open S --script FILE works "
                         "and flotsam report prints what was found");
    if (!rescue_prepare(&moves))
        return error_set(e,
                         "the terminal %s is not known here; set TERM to one that is, such as "
                         "xterm",
                         name && *name ? name : "(TERM is not set)");
    if (!moves || !newterm(NULL, stdout, stdin))
        return error_set(
            e,
            "the terminal %s cannot be used for a screen; set TERM to one that can, such "
            "as xterm",
            name ? name : "");
    struct terminal *t = xcalloc(1, sizeof *t);
    rescue_arm(true);
    set_modes();
    t->colours = wants_colours();
    if (t->colours) {
        start_color();
        use_default_colors();
    }
    *out = t;
    return true;
}

void terminal_close(struct terminal *t)
{
    if (!t)
        return;
    endwin();
    rescue_arm(false);
    free(t);
}

void terminal_leave(struct terminal *t)
{
    (void)t;
    endwin();
    rescue_arm(false);
}

void terminal_return(struct terminal *t)
{
    (void)t;
    rescue_arm(true);
    refresh();
    set_modes();
    clearok(curscr, TRUE);
}

void terminal_size(const struct terminal *t, int *columns, int *rows)
{
    (void)t;
    getmaxyx(stdscr, *rows, *columns);
}

void terminal_measure(struct terminal *t)
{
    struct winsize size;

    (void)t;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
        resizeterm(size.ws_row, size.ws_col); /* which has KEY_RESIZE read next */
}

bool terminal_has_colours(const struct terminal *t)
{
    return t->colours;
}

void terminal_copy(struct terminal *t, const char *text, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    (void)t;
    fputs("\x1b]52;c;", stdout);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t bits = (uint32_t)(unsigned char)text[i] << 16;
        if (i + 1 < n)
            bits |= (uint32_t)(unsigned char)text[i + 1] << 8;
        if (i + 2 < n)
            bits |= (unsigned char)text[i + 2];
        for (int k = 0; k < 4; k++)
            putchar(i + (size_t)k > n ? '=' : digits[bits >> (18 - 6 * k) & 63]);
    }
    fputs("\x1b\\", stdout);
    fflush(stdout);
}

/* ---- drawing ---- */

/* The nearest of a terminal's colours to one of 256. */
static int fewer_colours(int colour)
{
    static const unsigned char steps[] = {0, 95, 135, 175, 215, 255};
    enum { CUBE = 16, GREYS = 232, LIGHT = 128 };

    if (colour < 0 || colour < COLORS)
        return colour;
    if (colour < SOME_COLOURS)
        return colour - FEW_COLOURS; /* bright ones look like the others */
    int red, green, blue;
    if (colour >= GREYS) {
        red = green = blue = 8 + (colour - GREYS) * 10;
    } else {
        red = steps[(colour - CUBE) / 36];
        green = steps[(colour - CUBE) / 6 % 6];
        blue = steps[(colour - CUBE) % 6];
    }
    return (red >= LIGHT) | (green >= LIGHT) << 1 | (blue >= LIGHT) << 2;
}

static attr_t attributes(const struct look *l)
{
    attr_t a = A_NORMAL;

    a |= l->attributes & LOOK_BOLD ? A_BOLD : 0;
    a |= l->attributes & LOOK_DIM ? A_DIM : 0;
    a |= l->attributes & LOOK_ITALIC ? A_ITALIC : 0;
    a |= l->attributes & LOOK_UNDERLINE ? A_UNDERLINE : 0;
    a |= l->attributes & LOOK_REVERSE ? A_REVERSE : 0;
    return a;
}

/* A style with another over it: the upper one's background and attributes, and its colour where the
 * lower one has none of its own. */
static void set_look(const struct terminal *t, const struct theme *theme,
                     const struct screen_cell *c)
{
    struct look look = theme->looks[c->style];

    if (c->over != STYLE_PLAIN) {
        const struct look *over = &theme->looks[c->over];
        look.attributes |= over->attributes;
        if (over->background != COLOUR_DEFAULT)
            look.background = over->background;
        if (look.colour == COLOUR_DEFAULT || c->over == STYLE_FOUND ||
            look.colour == look.background)
            look.colour = over->colour;
    }
    int pair = 0;
    if (t->colours) {
        pair = alloc_pair(fewer_colours(look.colour), fewer_colours(look.background));
    } else if (look.background != COLOUR_DEFAULT) {
        look.attributes |= LOOK_REVERSE;
    }
    attr_set(attributes(&look), 0, pair > 0 ? &pair : NULL);
}

static bool same_look(const struct screen_cell *a, const struct screen_cell *b)
{
    return a->style == b->style && a->over == b->over;
}

static void draw_row(const struct terminal *t, const struct screen *s, int row,
                     const struct theme *theme, struct buf *text)
{
    const struct screen_cell *cells = &s->cells[row * s->columns];

    for (int first = 0, next; first < s->columns; first = next) {
        buf_clear(text);
        for (next = first; next < s->columns && same_look(&cells[first], &cells[next]); next++)
            buf_add(text, cells[next].text, cells[next].size);
        set_look(t, theme, &cells[first]);
        mvaddnstr(row, first, buf_string(text), (int)text->n);
    }
}

void terminal_draw(struct terminal *t, const struct screen *s, const struct theme *theme, bool anew)
{
    struct buf text = {0};

    if (anew) {
        erase();
        clearok(curscr, TRUE);
    }
    for (int row = 0; row < s->rows; row++)
        draw_row(t, s, row, theme, &text);
    buf_free(&text);
    curs_set(s->cursor_row >= 0);
    if (s->cursor_row >= 0)
        move(s->cursor_row, s->cursor_column);
    refresh();
}

/* ---- reading ---- */

static uint32_t named_key(int code)
{
    static const struct {
        int code;
        uint32_t key;
    } keys[] = {
        {KEY_UP, TYPED_UP},         {KEY_DOWN, TYPED_DOWN},           {KEY_LEFT, TYPED_LEFT},
        {KEY_RIGHT, TYPED_RIGHT},   {KEY_HOME, TYPED_HOME},           {KEY_END, TYPED_END},
        {KEY_PPAGE, TYPED_PAGE_UP}, {KEY_NPAGE, TYPED_PAGE_DOWN},     {KEY_IC, TYPED_INSERT},
        {KEY_DC, TYPED_DELETE},     {KEY_BACKSPACE, TYPED_BACKSPACE}, {KEY_BTAB, TYPED_BACK_TAB},
        {KEY_ENTER, TYPED_ENTER},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == code)
            return keys[i].key;
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return TYPED_F1 + (uint32_t)(code - KEY_F(1));
    return TYPED_NOTHING;
}

static struct input read_mouse(void)
{
    MEVENT event;
    struct input in = {0};

    if (getmouse(&event) != OK)
        return in;
    in.column = event.x;
    in.row = event.y;
    in.kind = INPUT_CLICK;
    in.amount = event.bstate & BUTTON1_DOUBLE_CLICKED ? 2 : 1;
    if (event.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
        in.kind = INPUT_SCROLL;
        in.amount = event.bstate & BUTTON4_PRESSED ? -1 : 1;
    }
    return in;
}

/* A terminal that went away reads as ready and gives nothing. */
static bool is_gone(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR | POLLNVAL);
}

/* What curses does not know comes character by character: a control sequence (ESC [ … a letter, or
 * ESC O and one) whose parts would be taken for keys. True when there was one, which is read. */
static bool skip_sequence(void)
{
    wint_t c;

    if (get_wch(&c) != OK)
        return false;
    if (c != '[' && c != 'O') {
        unget_wch((wchar_t)c);
        return false;
    }
    while (get_wch(&c) == OK && (c < '@' || c > '~'))
        ;
    return true;
}

struct input terminal_read(struct terminal *t)
{
    wint_t c;
    struct input in = {0};
    enum { DELETE_CHARACTER = 127 };

    (void)t;
    int kind = get_wch(&c);
    while (kind == OK && c == TYPED_ESCAPE && skip_sequence())
        kind = get_wch(&c);
    if (kind == ERR) {
        if (is_gone())
            in.kind = INPUT_CLOSED;
        return in;
    }
    if (kind == OK) {
        in.kind = INPUT_KEY;
        in.key = c == DELETE_CHARACTER || c == '\b' ? TYPED_BACKSPACE : (uint32_t)c;
        return in;
    }
    if (c == KEY_RESIZE) {
        in.kind = INPUT_RESIZE;
        getmaxyx(stdscr, in.row, in.column);
        return in;
    }
    if (c == KEY_MOUSE)
        return read_mouse();
    in.key = named_key((int)c);
    in.kind = in.key ? INPUT_KEY : INPUT_NONE;
    return in;
}
