/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/rescue.h"

#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

/* What a signal handler needs; a handler gets no argument. */
static struct {
    struct termios before;
    char leave[256]; /* what makes the terminal as it was */
    size_t leave_size;
    volatile sig_atomic_t taken;
} rescue;

static int add_byte(int c)
{
    if (rescue.leave_size < sizeof rescue.leave)
        rescue.leave[rescue.leave_size++] = (char)c;
    return c;
}

static void add_capability(const char *capability)
{
    if (capability && capability != (const char *)-1)
        tputs(capability, 1, add_byte);
}

/* Only calls that a signal handler may make. */
static void on_crash(int signal_number)
{
    if (rescue.taken) {
        ssize_t ignored = write(STDOUT_FILENO, rescue.leave, rescue.leave_size);
        (void)ignored;
        tcsetattr(STDIN_FILENO, TCSANOW, &rescue.before);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

bool rescue_prepare(bool *moves)
{
    static const char mouse_off[] = "\x1b[?1000l\x1b[?1002l\x1b[?1006l";
    int failed;

    if (setupterm(NULL, STDOUT_FILENO, &failed) != OK)
        return false;
    tcgetattr(STDIN_FILENO, &rescue.before);
    rescue.leave_size = 0;
    for (const char *c = mouse_off; *c; c++)
        add_byte(*c);
    add_capability(exit_attribute_mode);
    add_capability(cursor_normal);
    add_capability(keypad_local);
    add_capability(exit_ca_mode);
    *moves = cursor_address && cursor_address != (const char *)-1;
    del_curterm(cur_term); /* newterm() makes its own */
    return true;
}

/* All that would end us, but for those that the loop answers by leaving in good order, and SIGKILL.
 */
static const int deadly[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT,   SIGSYS,  SIGQUIT,
                             SIGTRAP, SIGXCPU, SIGXFSZ, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1,
                             SIGUSR2, SIGPIPE, SIGPOLL, SIGPWR,  SIGSTKFLT};
enum { DEADLY = sizeof deadly / sizeof *deadly };

static void take_signals(void)
{
    struct sigaction act = {.sa_handler = on_crash, .sa_flags = SA_NODEFER}, before;

    for (size_t i = 0; i < DEADLY; i++)
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(deadly[i], &act, NULL);
}

static void give_signals_back(void)
{
    struct sigaction act = {.sa_handler = SIG_DFL}, now;

    for (size_t i = 0; i < DEADLY; i++)
        if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler == on_crash)
            sigaction(deadly[i], &act, NULL);
}

void rescue_arm(bool taken)
{
    if (taken)
        take_signals();
    else
        give_signals_back();
    rescue.taken = taken;
    if (!taken)
        tcsetattr(STDIN_FILENO, TCSANOW, &rescue.before);
}
