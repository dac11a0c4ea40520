/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dumped COLUMNS FILE...: whether dumped screens are fit for a terminal of the locale. Every
 * character must be whole and have a width, no row may be wider than COLUMNS (0: as it likes), and
 * below a title line with a joint in it the border must stand in the joint's column on every row,
 * down to the next title line or the line of keys.
 */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { WIDEST = 4000, KEYS_AND_MESSAGE = 2 };

struct row {
    wchar_t at[WIDEST]; /* the character that begins in each column */
    int width;
};

static const char *file;
static int line, failures;

static void complain(const char *what, int column)
{
    printf("%s:%d: column %d: %s\n", file, line, column + 1, what);
    failures++;
}

static void read_row(struct row *row, const char *text, size_t n)
{
    mbstate_t state = {0};

    wmemset(row->at, L' ', WIDEST);
    row->width = 0;
    while (n) {
        wchar_t c;
        size_t used = mbrtowc(&c, text, n, &state);
        if (used == (size_t)-1 || used == (size_t)-2 || used == 0) {
            complain("not a character of the locale", row->width);
            return;
        }
        int width = wcwidth(c);
        if (width < 0)
            complain("a character that is not shown", row->width);
        if (width > 0 && row->width < WIDEST)
            row->at[row->width] = c;
        row->width += width > 0 ? width : 0;
        text += used;
        n -= used;
    }
}

static bool is_one_of(wchar_t c, const wchar_t *set)
{
    return wcschr(set, c) != NULL;
}

static void check_file(int columns)
{
    static struct row row;
    static bool border[WIDEST];
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *f = fopen(file, "r");
    long rows = 0;

    if (!f) {
        perror(file);
        exit(2);
    }
    while (getline(&text, &room, f) >= 0)
        rows++;
    rewind(f);
    memset(border, 0, sizeof border);
    for (line = 1; (n = getline(&text, &room, f)) >= 0; line++) {
        if (n && text[n - 1] == '\n')
            n--;
        read_row(&row, text, (size_t)n);
        if (!columns)
            continue;
        if (row.width > columns)
            complain("too wide", row.width);
        bool title = is_one_of(row.at[0], L"─-") && row.at[1] == L' ';
        for (int c = 0; c < columns && line <= rows - KEYS_AND_MESSAGE; c++) {
            bool here = is_one_of(row.at[c], L"│├┤┼┬┴|+");
            if (title)
                border[c] = is_one_of(row.at[c], L"┬┼┤├│");
            else if (border[c] && !here)
                complain("no border below the joint", c);
        }
    }
    free(text);
    fclose(f);
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    for (int i = 2; i < argc; i++) {
        file = argv[i];
        check_file(atoi(argv[1]));
    }
    return failures ? 1 : 0;
}
