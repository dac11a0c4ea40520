/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker pool: what a checker is given, what becomes of its verdict, and that nothing a
 * checker does reaches the crash state, another run or the machine. Each in every way of running
 * checkers that works here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "engine/config.h"
#include "engine/pool_command.h"
#include "engine/pool_store.h"
#include "tests/unit/pool_sample.h"

/* ---- verdicts ---- */

static void verdicts_in(struct sample *s)
{
    struct pool_verdict v = sample_run(s, "true");
    assert_int_equal(v.outcome, POOL_CONSISTENT);
    assert_int_equal(v.exit_status, 0);
    assert_int_equal(v.output_size, 0);

    v = sample_run(s, "echo no good; echo at all >&2; exit 3");
    assert_int_equal(v.outcome, POOL_INCONSISTENT);
    assert_int_equal(v.exit_status, 3);
    assert_int_equal(v.signal, 0);
    assert_string_equal(v.output, "no good\nat all\n");

    v = sample_run(s, "exit 99");
    assert_int_equal(v.outcome, POOL_INCONSISTENT);
    assert_int_equal(v.exit_status, 99);

    v = sample_run(s, "kill -SEGV $$");
    assert_int_equal(v.outcome, POOL_CRASHED);
    assert_int_equal(v.exit_status, -1);
    assert_int_equal(v.signal, SIGSEGV);
    assert_false(v.timed_out);

    s->options.timeout = 0.2;
    v = sample_run(s, "echo begun; trap '' TERM INT; while :; do sleep 5; done");
    assert_int_equal(v.outcome, POOL_HUNG);
    assert_true(v.timed_out && v.seconds >= 0.2 && v.seconds < 5);
    assert_string_equal(v.output, "begun\n");
    assert_int_equal(sample_run(s, "kill -STOP $$").outcome, POOL_HUNG);
}

static void verdicts(void **state)
{
    (void)state;
    sample_each_way(verdicts_in);
}

/* ---- what the checker gets ---- */

static void told_in(struct sample *s)
{
    sample_open(s, "pwd; echo {dir} \"$FLOTSAM_DIR\" $FLOTSAM_CRASH_EVENT; cat \"$FLOTSAM_STDOUT\" "
                   "\"$FLOTSAM_MARKERS\"; cat {dir}/sub/b; stat -c %a {dir}; readlink {dir}/link; "
                   "wc -c; ls -d /proc/self/fd/3 2>/dev/null; echo \"${FLOTSAM_MARK-none}\"");
    if (s->options.way != POOL_COPY)
        assert_string_equal(pool_dir(s->pool, 0), s->data);
    static const char *const printed[] = {
        "saved 1\nsaved 2\n", "saved 1\n",          "",        "saved 1\n",
        "saved 1\nsaved 3\n", "other 1\nsaved 3\n", "other\n", "other 2\n"};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        struct pool_verdict v;
        struct pool_input input = {.printed = printed[i],
                                   .printed_size = strlen(printed[i]),
                                   .markers = i % 2 ? "here\n" : NULL,
                                   .crash_event = i * UINT64_C(5000000000),
                                   .ticket = i};
        sample_start(s, 0, &input);
        assert_true(pool_wait(s->pool, &v, SAMPLE_WAIT_MS));
        assert_int_equal(v.ticket, i);
        const char *dir = pool_dir(s->pool, 0);
        char *expected = xasprintf("%s\n%s %s %llu\n%s%sbeta\n711\na\n0\nnone\n", s->top, dir, dir,
                                   (unsigned long long)input.crash_event, printed[i],
                                   input.markers ? input.markers : "");
        assert_string_equal(v.output, expected);
        free(expected);
    }
}

static void checker_is_told(void **state)
{
    (void)state;
    setenv("FLOTSAM_MARK", "/nowhere", 1);
    sample_each_way(told_in);
    unsetenv("FLOTSAM_MARK");
}

static void dir_made_in(struct sample *s)
{
    char *deep = xasprintf("%s/not/there/yet", s->top);
    char *first = xasprintf("%s/not", s->top);
    s->options.dir = deep;
    sample_expect(s, "grep -q alpha {dir}/a && cd {dir} && touch new", POOL_CONSISTENT);
    sample_close(s);
    assert_int_equal(access(first, F_OK), -1);

    /* It stays as long as another pool uses it. */
    struct pool *maker;
    struct error e;
    s->options.command = "true";
    assert_true(pool_new(&maker, &s->options, &e));
    sample_open(s, "grep -q alpha {dir}/a");
    pool_free(maker);
    assert_int_equal(sample_again(s).outcome, POOL_CONSISTENT);
    sample_shell(s, "rmdir -p not/there/yet");
    sample_close(s);
    free(deep);
    free(first);

    /* Where no directory can be, the state has a place of its own. */
    s->options.dir = "/proc/version/data";
    sample_expect(s, "grep -q alpha {dir}/a && test {dir} = \"$FLOTSAM_DIR\"", POOL_CONSISTENT);
    s->options.dir = NULL;
    sample_expect(s, "grep -q alpha {dir}/a && touch {dir}/new", POOL_CONSISTENT);
}

static void directory_that_is_missing(void **state)
{
    (void)state;
    sample_each_way(dir_made_in);
}

/* ---- what a checker may do, and what remains of it ---- */

static const char MMAP_CHECKER[] =
    "#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\n"
    "int main(int argc, char **argv)\n{\n"
    "    (void)argc;\n"
    "    int fd = open(argv[1], O_RDWR);\n"
    "    char *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);\n"
    "    if (at == MAP_FAILED || at[0] != 'a')\n        return 1;\n"
    "    at[0] = 'X';\n"
    "    return msync(at, 4096, MS_SYNC) != 0 || !fork() ? 2 : 0;\n}\n";

static void violence_in(struct sample *s)
{
    char *source = xasprintf("cat >map.c <<'END'\n%s\nEND\ncc -o map map.c", MMAP_CHECKER);
    sample_shell(s, source);
    free(source);
    static const char *const deeds[] = {
        "rm -rf {dir}/* && echo new >{dir}/a",
        "rm -rf {dir}; true",
        "cd {dir} && echo more >>a && truncate -s 1G sub/b && chmod 777 . a sub && touch -d @0 . a",
        "cd {dir} && mv a b && ln b c && rm link && ln -s / link && mkfifo pipe",
        "./map {dir}/a",
        "cd {dir} && mkdir locked && touch locked/x && chmod 0 locked && chmod 500 .",
        "cd {dir} && for i in $(seq 300); do mkdir d && cd d && echo $i >f || exit 1; done",
        "cd {dir} && for i in $(seq 3000); do : >name$i; done",
        "cd {dir} && mkdir f && touch f/x && { chattr +i a f/x f . || true; } 2>/dev/null",
    };
    /* In one pool, each run followed by one that must find the state as it was laid out. */
    char *command = xasprintf("if [ $FLOTSAM_CRASH_EVENT = 0 ]; then diff -r {dir} base && "
                              "[ $(stat -c %%a {dir})$(stat -c %%a {dir}/a) = 711640 ] && "
                              "[ $(readlink {dir}/link) = a ]; exit; fi; "
                              "sh do.$FLOTSAM_CRASH_EVENT");
    sample_open(s, command);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        char *line = config_command(deeds[i], pool_dir(s->pool, 0));
        char *script = xasprintf("cat >do.%zu <<'END'\n%s\nEND", i + 1, line);
        struct pool_verdict v;
        sample_shell(s, script);
        sample_start(s, 0, &(struct pool_input){.crash_event = i + 1});
        assert_true(pool_wait(s->pool, &v, SAMPLE_WAIT_MS));
        if (v.outcome != POOL_CONSISTENT)
            fail_msg("%s: %s", deeds[i], v.output);
        v = sample_again(s);
        if (v.outcome != POOL_CONSISTENT)
            fail_msg("after %s: %s", deeds[i], v.output);
        free(line);
        free(script);
    }
    free(command);
}

static void checker_does_as_it_likes(void **state)
{
    (void)state;
    sample_each_way(violence_in);
}

static void renames_in(struct sample *s)
{
    /* In a user namespace overlays cannot do this; mv copies then. */
    const char *tool =
        s->options.way == POOL_USER ? "mv" : "perl -e 'rename $ARGV[0], $ARGV[1] or die $!'";
    char *command = xasprintf("cd {dir} && %s sub other && cat other/b && [ ! -e sub ]", tool);
    sample_expect(s, command, POOL_CONSISTENT);
    sample_expect(s, command, POOL_CONSISTENT);
    free(command);
}

static void checker_renames_directories(void **state)
{
    (void)state;
    sample_each_way(renames_in);
}

static void hard_links_in(struct sample *s)
{
    sample_shell(s, "ln base/a base/sub/same");
    sample_open(s, "cd {dir} && echo changed >a && grep -q changed sub/same");
    struct pool_verdict v;
    for (int i = 0; i < 2; i++) {
        sample_start(s, 0, &(struct pool_input){.hard_links = true});
        assert_true(pool_wait(s->pool, &v, SAMPLE_WAIT_MS));
        if (v.outcome != POOL_CONSISTENT)
            fail_msg("%s", v.output);
        folder_same(s->base, pool_lower(s->pool, 0));
    }
}

static void files_with_several_names(void **state)
{
    (void)state;
    sample_each_way(hard_links_in);
}

static void changed_lower_in(struct sample *s)
{
    sample_open(s, "cat {dir}/*.new; echo left >{dir}/z.new; rm -f {dir}/a");
    for (int i = 0; i < 20; i++) {
        char *path = xasprintf("%s/%d.new", pool_lower(s->pool, 0), i);
        char text[16];
        int n = snprintf(text, sizeof text, "%d\n", i);
        int fd = open(path, O_WRONLY | O_CREAT, 0644);
        assert_int_equal(write(fd, text, (size_t)n), n);
        close(fd);
        struct pool_verdict v;
        sample_start(s, 0, &(struct pool_input){0});
        assert_true(pool_wait(s->pool, &v, SAMPLE_WAIT_MS));
        assert_string_equal(v.output, text);
        assert_int_equal(unlink(path), 0);
        free(path);
    }
}

static void lower_changes_between_runs(void **state)
{
    (void)state;
    sample_each_way(changed_lower_in);
}

static void together_in(struct sample *s)
{
    /* Each writes its number, waits until all have, and must find only its own. */
    enum { JOBS = 3, ROUNDS = 4 };
    s->options.jobs = JOBS;
    sample_open(s, "echo $FLOTSAM_CRASH_EVENT >>{dir}/a; sleep 0.1; tail -n +2 {dir}/a");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0, w; (w = pool_idle(s->pool)) >= 0; i++)
            sample_start(s, w,
                         &(struct pool_input){.crash_event = (uint64_t)(100 + i),
                                              .ticket = (uint64_t)(100 + i)});
        struct pool_verdict v;
        int seen = 0;
        while (pool_wait(s->pool, &v, SAMPLE_WAIT_MS)) {
            char expected[16];
            snprintf(expected, sizeof expected, "%llu\n", (unsigned long long)v.ticket);
            assert_string_equal(v.output, expected);
            seen++;
        }
        assert_int_equal(seen, JOBS);
    }
    for (int i = 0; i < JOBS; i++)
        folder_same(s->base, pool_lower(s->pool, i));
}

static void runs_at_the_same_time(void **state)
{
    (void)state;
    sample_each_way(together_in);
}

/* Several checkers at a time would meet in one folder for temporary files, and what one leaves
 * would decide about the next: files, or what became of the folder. */
static void tmp_in(struct sample *s)
{
    static const char *const leave[] = {
        "mkdir -p \"$TMPDIR/a/b\" && echo x >\"$TMPDIR/a/b/c\" && chmod 0 \"$TMPDIR/a\"",
        "chmod 0 \"$TMPDIR\"",
        "chmod 500 \"$TMPDIR\"",
        "rm -rf \"$TMPDIR\"; true",
        "rm -rf \"$TMPDIR\"; echo x >\"$TMPDIR\" || true",
        "rm -rf \"$TMPDIR\"; ln -s / \"$TMPDIR\" || true",
        "mv \"$TMPDIR\" \"$TMPDIR.away\"; mkdir -p \"$TMPDIR/other\" || true",
    };
    for (size_t i = 0; i < sizeof leave / sizeof *leave; i++) {
        char *command = xasprintf("[ -z \"$(ls -A \"$TMPDIR\")\" ] && f=$(mktemp) && "
                                  "[ \"$(dirname $f)\" = \"$TMPDIR\" ] && { %s; } 2>/dev/null",
                                  leave[i]);
        sample_open(s, command);
        for (int run = 0; run < 3; run++) {
            struct pool_verdict v = sample_again(s);
            if (v.outcome != POOL_CONSISTENT)
                fail_msg("%s, run %d: %s", leave[i], run, v.output);
        }
        sample_close(s);
        free(command);
    }
}

static void temporary_files_are_its_own(void **state)
{
    (void)state;
    sample_each_way(tmp_in);
}

/* ---- limits ---- */

static void output_in(struct sample *s)
{
    enum { KEPT = 1000 };
    const uint64_t all = UINT64_C(100) << 20;
    s->options.output_limit = KEPT;
    struct pool_verdict v = sample_run(s, "yes | head -c 104857600");
    assert_int_equal(v.outcome, POOL_CONSISTENT);
    assert_int_equal(v.printed, all);
    assert_memory_equal(v.output, "y\ny\ny\n", 6);
    char *end = xasprintf("\n… %llu bytes more", (unsigned long long)(all - KEPT));
    assert_string_equal(v.output + KEPT, end);
    assert_int_equal(v.output_size, KEPT + strlen(end));
    free(end);
    s->options.timeout = 0.5;
    v = sample_run(s, "yes");
    assert_int_equal(v.outcome, POOL_HUNG);
    assert_true(v.printed > KEPT);
}

static void checker_prints_gigabytes(void **state)
{
    (void)state;
    sample_each_way(output_in);
}

static void disk_in(struct sample *s)
{
    s->options.file_size_limit = 1 << 20;
    struct pool_verdict v =
        sample_run(s, "exec dd if=/dev/zero of={dir}/big bs=64k count=100 2>/dev/null");
    assert_int_equal(v.outcome, POOL_CRASHED);
    assert_int_equal(v.signal, SIGXFSZ);
    s->options.file_size_limit = 0;
    if (s->options.way == POOL_COPY)
        return;
    s->options.disk_limit = 4 << 20;
    sample_open(s, "rm {dir}/a; i=0; while dd if=/dev/zero of={dir}/big$i bs=64k count=16; do "
                   "i=$((i + 1)); [ $i -lt 100 ] || exit 5; done 2>&1");
    for (int i = 0; i < 3; i++) {
        v = sample_again(s);
        assert_int_equal(v.outcome, POOL_CONSISTENT);
        assert_non_null(strstr(v.output, "No space left"));
    }
}

static void checker_fills_the_disk(void **state)
{
    (void)state;
    sample_each_way(disk_in);
}

static void memory_in(struct sample *s)
{
    s->options.memory_limit = 40 << 20;
    sample_expect(s, "head -c 80000000 /dev/zero | tail -n 1 >/dev/null", POOL_INCONSISTENT);
    s->options.memory_limit = 0;
    sample_expect(s, "head -c 80000000 /dev/zero | tail -n 1 >/dev/null", POOL_CONSISTENT);
}

static void checker_eats_memory(void **state)
{
    (void)state;
    sample_each_way(memory_in);
}

/* ---- processes ---- */

static void daemons_in(struct sample *s)
{
    char word[64];
    snprintf(word, sizeof word, "98765.%d", (int)getpid());
    char *command = xasprintf("for i in 1 2 3; do setsid sleep %s & done; "
                              "(setsid sh -c 'sleep %s & sleep %s' >/dev/null 2>&1 &) ; "
                              "(trap '' HUP TERM; sleep %s) & sleep 0.05; exit 0",
                              word, word, word, word);
    sample_open(s, command);
    for (int i = 0; i < 3; i++) {
        struct pool_verdict v = sample_again(s);
        assert_int_equal(v.outcome, POOL_CONSISTENT);
        assert_true(v.seconds < 5);
        assert_int_equal(sample_processes(word), 0);
    }
    free(command);
}

static void checker_leaves_daemons(void **state)
{
    (void)state;
    sample_each_way(daemons_in);
}

static void killers_in(struct sample *s)
{
    if (s->options.way == POOL_COPY) {
        /* Nothing protects the parent there: it is noticed, and the next run works. */
        sample_open(s, "[ -e done ] && exit 4; touch done; kill -9 $PPID; sleep 5");
        struct pool_verdict v = sample_again(s);
        assert_int_equal(v.outcome, POOL_NOT_RUN);
        assert_non_null(strstr(v.output, "killed"));
        assert_int_equal(sample_again(s).exit_status, 4);
        sample_shell(s, "rm done");
        return;
    }
    sample_open(s, "kill -9 $PPID; kill -STOP 1; kill -9 -1 2>/dev/null; echo alive; exit 4");
    for (int i = 0; i < 3; i++) {
        struct pool_verdict v = sample_again(s);
        assert_int_equal(v.exit_status, 4);
        assert_string_equal(v.output, "alive\n");
    }
    sample_expect(s, "test $$ -ne 1", POOL_CONSISTENT);
}

static void checker_kills_its_parent(void **state)
{
    (void)state;
    sample_each_way(killers_in);
}

static const char LEAK_CHECKER[] =
    "#include <fcntl.h>\n#include <string.h>\n#include <sys/socket.h>\n#include <sys/un.h>\n"
    "int main(int argc, char **argv)\n{\n"
    "    (void)argc;\n"
    "    struct sockaddr_un to = {.sun_family = AF_UNIX};\n"
    "    strcpy(to.sun_path, \"socket\");\n"
    "    int fd = open(argv[1], O_RDWR), s = socket(AF_UNIX, SOCK_DGRAM, 0);\n"
    "    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } c = {0};\n"
    "    struct iovec v = {\"x\", 1};\n"
    "    struct msghdr m = {&to, sizeof to, &v, 1, &c, sizeof c, 0};\n"
    "    c.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};\n"
    "    memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);\n"
    "    return sendmsg(s, &m, 0) != 1;\n}\n";

/* A descriptor that escapes to another process keeps the overlay busy: what holds it is given up,
 * and the next run has a new one. */
static void leak_in(struct sample *s)
{
    struct sockaddr_un here = {.sun_family = AF_UNIX};
    int receiver = socket(AF_UNIX, SOCK_DGRAM, 0);
    char *source = xasprintf("cat >leak.c <<'END'\n%s\nEND\ncc -o leak leak.c", LEAK_CHECKER);
    sample_shell(s, source);
    free(source);
    snprintf(here.sun_path, sizeof here.sun_path, "%s/socket", s->top);
    assert_int_equal(bind(receiver, (struct sockaddr *)&here, sizeof here), 0);
    sample_open(s, "test ! -e {dir}/mark && touch {dir}/mark && ./leak {dir}/a");
    for (int i = 0; i < 3; i++) {
        struct pool_verdict v = sample_again(s);
        if (v.outcome != POOL_CONSISTENT)
            fail_msg("run %d: outcome %d: %s", i, v.outcome, v.output);
    }
    close(receiver);
    unlink(here.sun_path);
}

static void checker_leaks_its_files(void **state)
{
    (void)state;
    sample_each_way(leak_in);
}

/* ---- what a checker cannot reach ---- */

static void walls_in(struct sample *s)
{
    if (s->options.way == POOL_COPY)
        return;
    struct pool_verdict v =
        sample_run(s, "store=${FLOTSAM_STDOUT%/*}; ls $store; umount {dir} 2>/dev/null && echo no; "
                      "umount $store 2>/dev/null && echo no; ls /proc/1/root/ /proc/1/fd/*/ "
                      "2>/dev/null; (echo x >$FLOTSAM_STDOUT) 2>/dev/null && echo no; "
                      "touch $store/x 2>/dev/null && echo no; true");
    assert_string_equal(v.output, "markers\nstate\nstdout\ntmp\n");
}

static void crash_states_are_out_of_reach(void **state)
{
    (void)state;
    sample_each_way(walls_in);
}

/* ---- checkers that are not there ---- */

static void refused(struct sample *s, const char *command, const char *word)
{
    struct error e = {""};
    s->options.command = command;
    if (pool_new(&s->pool, &s->options, &e))
        fail_msg("%s: accepted", command);
    assert_null(s->pool);
    if (!strstr(e.text, word))
        fail_msg("%s: %s", command, e.text);
}

static void missing_checkers(void **state)
{
    (void)state;
    struct sample *s = sample_new();
    sample_shell(s, "echo 'exit 6' >plain && cp plain script && chmod +x script && mkdir folder");
    refused(s, "", "empty");
    refused(s, "./missing {dir}", "./missing: No such file");
    refused(s, "./missing {dir} | grep -q ok", "./missing: No such file");
    refused(s, "no-such-program-here {dir}", "no-such-program-here is not in PATH");
    refused(s, "./plain", "./plain may not be executed");
    refused(s, "./folder", "./folder: Is a directory");
    sample_shell(s, "printf '#!/no/such -x\\n' >lost && printf '#!/bin/sh\\r\\n' >foreign && "
                    "chmod +x lost foreign");
    refused(s, "./lost", "its interpreter /no/such: No such file");
    refused(s, "./foreign | cat", "carriage return");
    s->options.folder = "/nonexistent";
    refused(s, "true", "/nonexistent");
    s->options.folder = s->top;
    assert_int_equal(sample_run(s, "./script {dir}").exit_status, 6);
    assert_int_equal(sample_run(s, "  ./script").exit_status, 6);
    sample_expect(s, "if true; then exit 0; fi", POOL_CONSISTENT);
    sample_expect(s, "X=1 sh -c 'test $X = 1'", POOL_CONSISTENT);
    sample_expect(s, "(exit 0)", POOL_CONSISTENT);
    sample_expect(s, ": {dir}", POOL_CONSISTENT);
    assert_int_equal(sample_run(s, "exit 8").exit_status, 8);

    /* Found at first, gone later: not the state's fault. */
    sample_shell(s, "cp /bin/true mine");
    sample_open(s, "./mine");
    sample_shell(s, "rm mine");
    struct pool_verdict v = sample_again(s);
    assert_int_equal(v.outcome, POOL_NOT_RUN);
    assert_non_null(strstr(v.output, "No such file"));
    sample_free(s);
}

static void simple_commands_need_no_shell(void **state)
{
    (void)state;
    struct pool_command c;
    struct error e;
    assert_true(pool_command_make(&c, "cat {dir}/a --x=1", "/with 'odd' name", "/", &e));
    assert_string_equal(strrchr(c.path, '/'), "/cat");
    assert_string_equal(c.argv[0], "cat");
    assert_string_equal(c.argv[1], "/with 'odd' name/a");
    assert_string_equal(c.argv[2], "--x=1");
    assert_null(c.argv[3]);
    pool_command_free(&c);
    static const char *const for_the_shell[] = {"cat $X",  "cat 'a'", "cat a>b", "cat *",  "cat ~",
                                                "cat a;b", "X=1 cat", "exit 1",  "cat `x`"};
    for (size_t i = 0; i < sizeof for_the_shell / sizeof *for_the_shell; i++) {
        assert_true(pool_command_make(&c, for_the_shell[i], "/d", "/", &e));
        assert_string_equal(c.path, "/bin/sh");
        assert_string_equal(c.argv[2], for_the_shell[i]);
        pool_command_free(&c);
    }
}

/* ---- the end of flotsam ---- */

static void on_alarm(int signal)
{
    (void)signal;
}

static void interrupted_in(struct sample *s)
{
    char word[64];
    snprintf(word, sizeof word, "87654.%d", (int)getpid());
    char *command = xasprintf("sleep %s & exec sleep %s", word, word);
    enum { RUNNING = 4 };
    char *work = xasprintf("%s/work", s->top);
    assert_int_equal(mkdir(work, 0755), 0);
    s->options.work = work;
    s->options.jobs = 2;
    sample_open(s, command);
    sample_start(s, 0, &(struct pool_input){0});
    sample_start(s, 1, &(struct pool_input){0});
    assert_int_equal(pool_idle(s->pool), -1);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 100000}, NULL);
    struct pool_verdict v;
    assert_false(pool_wait(s->pool, &v, SAMPLE_WAIT_MS));
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    assert_int_equal(sample_processes(word), RUNNING);
    assert_int_equal(sample_entries(work, "flotsam-pool-"), 1);
    sample_shell(s, "! grep -F \"$PWD\" /proc/self/mounts"); /* all mounts are private */
    sample_close(s);
    assert_int_equal(sample_processes(word), 0);
    assert_int_equal(sample_entries(work, "flotsam-pool-"), 0);
    free(command);
    free(work);
}

static void interrupted(void **state)
{
    (void)state;
    sample_each_way(interrupted_in);
}

static bool within_seconds(double seconds, bool (*holds)(void *data), void *data)
{
    for (int i = 0; i < (int)(seconds * 100); i++) {
        if (holds(data))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    return false;
}

struct remains {
    const char *word, *work, *made;
};

static bool all_run(void *data)
{
    return sample_processes(((struct remains *)data)->word) == 4;
}

static bool nothing_remains(void *data)
{
    struct remains *r = data;
    return sample_processes(r->word) == 0 && sample_entries(r->work, "flotsam-pool-") == 0 &&
           access(r->made, F_OK) != 0;
}

static void killed_in(struct sample *s)
{
    char word[64];
    snprintf(word, sizeof word, "76543.%d", (int)getpid());
    char *command = xasprintf("echo x >{dir}/new; (setsid sleep %s &) ; exec sleep %s", word, word);
    char *work = xasprintf("%s/work", s->top), *made = xasprintf("%s/fresh", s->top);
    char *deep = xasprintf("%s/data", made);
    assert_int_equal(mkdir(work, 0755), 0);
    s->options.work = work;
    s->options.dir = deep;
    s->options.jobs = 2;
    pid_t flotsam = fork();
    if (flotsam == 0) {
        struct error e;
        s->options.command = command;
        if (!pool_new(&s->pool, &s->options, &e))
            _exit(1);
        pool_run(s->pool, 0, &(struct pool_input){0}, &e);
        pool_run(s->pool, 1, &(struct pool_input){0}, &e);
        for (;;)
            pause();
    }
    struct remains r = {word, work, made};
    assert_true(within_seconds(10, all_run, &r));
    assert_int_equal(sample_entries(work, "flotsam-pool-"), 1);
    /* What flotsam had open may be closed a moment after its sockets are. */
    int held = open(deep, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(held, LOCK_SH), 0);
    kill(flotsam, SIGKILL);
    waitpid(flotsam, NULL, 0);
    usleep(200 * 1000);
    close(held);
    if (!within_seconds(10, nothing_remains, &r))
        fail_msg("%s: %d processes, %d folders remain, %s is %s", sample_way_name(s->options.way),
                 sample_processes(word), sample_entries(work, "flotsam-pool-"), made,
                 access(made, F_OK) ? "gone" : "there");
    free(command);
    free(work);
    free(made);
    free(deep);
}

static void killed(void **state)
{
    (void)state;
    sample_each_way(killed_in);
}

/* Makes a pool, says so, and frees it. */
static void free_a_pool(struct sample *s, int say)
{
    struct error e;
    s->options.command = "true";
    if (!pool_new(&s->pool, &s->options, &e) || write(say, "x", 1) != 1)
        _exit(1);
    pool_free(s->pool);
    for (;;)
        pause();
}

static bool no_folder(void *data)
{
    return sample_entries(data, "flotsam-pool-") == 0;
}

/* Workers end one after the other: those that are left take along what the others had. */
static void killed_at_the_end_in(struct sample *s)
{
    enum { ROUNDS = 60, LATEST_US = 15000 };
    char *work = xasprintf("%s/work", s->top);
    assert_int_equal(mkdir(work, 0755), 0);
    s->options.work = work;
    s->options.jobs = 4;
    for (int i = 0; i < ROUNDS; i++) {
        int pair[2];
        char byte;
        assert_int_equal(pipe(pair), 0);
        pid_t flotsam = fork();
        if (flotsam == 0)
            free_a_pool(s, pair[1]);
        close(pair[1]);
        assert_int_equal(read(pair[0], &byte, 1), 1);
        usleep((useconds_t)(i * LATEST_US / ROUNDS));
        kill(flotsam, SIGKILL);
        waitpid(flotsam, NULL, 0);
        close(pair[0]);
        if (!within_seconds(10, no_folder, work))
            fail_msg("%s: round %d: a folder remains", sample_way_name(s->options.way), i);
    }
    free(work);
}

static void killed_at_the_end(void **state)
{
    (void)state;
    sample_each_way(killed_at_the_end_in);
}

static void left_folders_are_removed(void **state)
{
    (void)state;
    struct sample *s = sample_new();
    sample_shell(s, "mkdir -p work/flotsam-pool-abcdef/0/lower && "
                    "echo x >work/flotsam-pool-abcdef/0/lower/y && mkdir work/other");
    char *work = xasprintf("%s/work", s->top);
    s->options.work = work;
    sample_open(s, "true");
    assert_int_equal(sample_entries(work, "flotsam-pool-abcdef"), 0);
    assert_int_equal(sample_entries(work, "flotsam-pool-"), 1);
    assert_int_equal(sample_entries(work, "other"), 1);

    /* That of a pool that lives is not touched. */
    struct pool *second;
    struct error e;
    assert_true(pool_new(&second, &s->options, &e));
    assert_int_equal(sample_entries(work, "flotsam-pool-"), 2);
    assert_int_equal(sample_again(s).outcome, POOL_CONSISTENT);
    pool_free(second);
    sample_close(s);
    assert_int_equal(sample_entries(work, "flotsam-pool-"), 0);

    /* Crash states do not lie in what they hide. */
    s->options.dir = s->top;
    refused(s, "true", "lies in the data directory");
    free(work);
    sample_free(s);
}

/* Locks whatever folder it sees, for a moment, as `flock` of a curious person does. */
static void lock_all(const char *work)
{
    for (;;) {
        DIR *dir = opendir(work);
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            int fd = *entry->d_name == '.' ? -1 : openat(dirfd(dir), entry->d_name, O_RDONLY);
            if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
                sched_yield();
            if (fd >= 0)
                close(fd);
        }
        if (dir)
            closedir(dir);
    }
}

static void folders_that_others_lock_are_removed(void **state)
{
    (void)state;
    enum { ROUNDS = 3000 };
    struct sample *s = sample_new();
    char *work = xasprintf("%s/work", s->top);
    assert_int_equal(mkdir(work, 0755), 0);
    pid_t curious = fork();
    if (curious == 0)
        lock_all(work);
    int opened = 0, left = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct pool_store store;
        struct error e;
        bool done = pool_store_open(&store, work, NULL, 0, &e);
        left += sample_entries(work, "flotsam-pool-") - done;
        opened += done;
        pool_store_close(&store);
    }
    kill(curious, SIGKILL);
    waitpid(curious, NULL, 0);
    assert_int_equal(left, 0);
    assert_true(opened > ROUNDS / 2);
    free(work);
    sample_free(s);
}

/* A run that may need more than there is anywhere still begins, where there is most. */
static void states_lie_where_there_is_room(void **state)
{
    (void)state;
    static const uint64_t bytes[] = {100, 0, 300, 200}, none[] = {0, 0};
    assert_int_equal(pool_store_best(bytes, 4, 0), 0);
    assert_int_equal(pool_store_best(bytes, 4, 100), 0);
    assert_int_equal(pool_store_best(bytes, 4, 101), 2);
    assert_int_equal(pool_store_best(bytes, 4, UINT64_MAX), 2);
    assert_int_equal(pool_store_best(none, 2, 0), 2);

    struct sample *s = sample_new();
    struct pool_store store;
    struct error e;
    assert_true(pool_store_open(&store, s->data, NULL, UINT64_MAX, &e));
    assert_memory_equal(store.path, s->data, strlen(s->data));
    pool_store_close(&store);
    assert_false(pool_store_open(&store, s->data, s->data, 0, &e));
    assert_non_null(strstr(e.text, "lies in the data directory"));
    assert_true(pool_store_open(&store, NULL, NULL, UINT64_MAX, &e)); /* somewhere */
    pool_store_close(&store);
    sample_free(s);
}

static void without_root(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    if (geteuid() != 0) {
        print_message("not tested: becoming another user needs root\n");
        skip();
    }
    struct sample *s = sample_new();
    assert_int_equal(chown(s->data, NOBODY, NOBODY), 0);
    pid_t child = fork();
    if (child == 0) {
        struct error e;
        struct pool_verdict v;
        if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(1);
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* as for a process that began as this user */
        s->options.command =
            "test $(id -u) = 65534 && mktemp >{dir}/new && echo mine >{dir}/new && "
            "cat {dir}/new && chmod 0 $TMPDIR";
        if (!pool_new(&s->pool, &s->options, &e)) {
            print_message("%s\n", e.text);
            _exit(2);
        }
        for (int i = 0; i < 3; i++)
            if (!pool_run(s->pool, 0, &(struct pool_input){0}, &e) ||
                !pool_wait(s->pool, &v, SAMPLE_WAIT_MS) || strcmp(v.output, "mine\n") ||
                v.outcome != POOL_CONSISTENT)
                _exit(3);
        print_message("without root: %s\n", sample_way_name(pool_way(s->pool)));
        bool seen = access(pool_lower(s->pool, 0), F_OK) == 0;
        pool_free(s->pool);
        _exit(seen ? 0 : 4);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    sample_free(s);
}

/* ---- speed ---- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double runs_a_second(struct sample *s, const char *command, int runs)
{
    struct pool_verdict v;
    sample_open(s, command);
    double begin = seconds_now();
    for (int started = 0, done = 0; done < runs;) {
        for (int w; started < runs && (w = pool_idle(s->pool)) >= 0; started++)
            sample_start(s, w, &(struct pool_input){.crash_event = (uint64_t)started});
        assert_true(pool_wait(s->pool, &v, SAMPLE_WAIT_MS));
        assert_int_equal(v.outcome, POOL_CONSISTENT);
        done++;
    }
    return runs / (seconds_now() - begin);
}

static void speed_in(struct sample *s)
{
    enum { RUNS = 1000, COPIED_RUNS = 200, LEAST = 200 };
    int runs = s->options.way == POOL_COPY ? COPIED_RUNS : RUNS;
    s->options.jobs = 2;
    sample_shell(s, "echo 'int main(void) { return 0; }' >quick.c && "
                    "{ cc -O2 -static -o quick quick.c || cc -O2 -o quick quick.c; } 2>/dev/null");
    double small = runs_a_second(s, "./quick {dir}", runs);
    print_message("%s: %.0f runs a second", sample_way_name(s->options.way), small);
    if (s->options.way != POOL_COPY) {
        sample_shell(s, "cd base && head -c 64M /dev/zero >big && i=0 && "
                        "while [ $i -lt 2000 ]; do : >file$i; i=$((i + 1)); done");
        /* Noise may halve it, and others may take the machine for a while; a cost that grows with
         * the state would be a hundredfold each time. */
        double large = 0;
        for (int i = 0; i < 3 && large <= small / 5; i++)
            large = runs_a_second(s, "./quick {dir}", runs);
        print_message(", %.0f with 2,000 files and 64 MiB", large);
        assert_true(large > small / 5);
    }
    print_message("\n");
    assert_true(small > (s->options.way == POOL_COPY ? 10 : LEAST));
}

static void speed(void **state)
{
    (void)state;
    sample_each_way(speed_in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(checker_is_told),
        cmocka_unit_test(directory_that_is_missing),
        cmocka_unit_test(checker_does_as_it_likes),
        cmocka_unit_test(checker_renames_directories),
        cmocka_unit_test(files_with_several_names),
        cmocka_unit_test(lower_changes_between_runs),
        cmocka_unit_test(runs_at_the_same_time),
        cmocka_unit_test(temporary_files_are_its_own),
        cmocka_unit_test(checker_prints_gigabytes),
        cmocka_unit_test(checker_fills_the_disk),
        cmocka_unit_test(checker_eats_memory),
        cmocka_unit_test(checker_leaves_daemons),
        cmocka_unit_test(checker_kills_its_parent),
        cmocka_unit_test(checker_leaks_its_files),
        cmocka_unit_test(crash_states_are_out_of_reach),
        cmocka_unit_test(missing_checkers),
        cmocka_unit_test(simple_commands_need_no_shell),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(killed),
        cmocka_unit_test(killed_at_the_end),
        cmocka_unit_test(left_folders_are_removed),
        cmocka_unit_test(folders_that_others_lock_are_removed),
        cmocka_unit_test(states_lie_where_there_is_room),
        cmocka_unit_test(without_root),
        cmocka_unit_test(speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
