/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/config.h"
#include "engine/mem.h"

static char folder[] = "/tmp/flotsam-config-XXXXXX";

static const struct config_switch switches[] = {
    {"auto_da_alloc", true, "a file renamed over another is never empty"},
    {"sectors_tear", false, "512-byte sectors may tear"},
    {.name = NULL},
};

static bool parse(struct config *c, const char *text, struct error *e)
{
    config_begin(c, switches);
    return config_parse(c, "x.ini", text, strlen(text), true, e);
}

static void assert_fails(const char *text, const char *message)
{
    struct config c;
    struct error e = {{0}};
    assert_false(parse(&c, text, &e));
    assert_string_equal(e.text, message);
    config_free(&c);
}

static void defaults_are_the_documented_ones(void **state)
{
    (void)state;
    struct config c;
    struct error e;
    assert_true(parse(&c, "", &e));
    assert_null(c.build);
    assert_null(c.checker);
    assert_string_equal(c.dir, "data");
    assert_true(c.acknowledgements);
    assert_string_equal(c.backend, "auto");
    assert_string_equal(c.model, "ext4");
    assert_string_equal(c.stores, "auto");
    assert_string_equal(c.strategy, "representative");
    assert_int_equal(c.budget, 10000);
    assert_int_equal(c.jobs, 0);
    assert_int_equal(c.timeout, 30);
    config_free(&c);
}

static void every_key_is_read(void **state)
{
    (void)state;
    struct config c;
    struct error e;
    assert_true(parse(&c,
                      "; a comment\n"
                      "[target]\n"
                      "build    = make -s          ; run first\n"
                      "dir      = store\n"
                      "setup    = ./setup {dir}\n"
                      "  workload = ./workload {dir} | tee log\n" /* indented: a key all the same */
                      "checker  = sh -c 'a; b'\n"
                      "acknowledgements = no\n"
                      "[record]\nbackend = ptrace\n"
                      "[model]\nname = xfs\nstores = px86\nauto_da_alloc = no\n"
                      "[explore]\nstrategy = random\nbudget = 0\njobs = 3\ntimeout = 5\n",
                      &e));
    assert_string_equal(c.build, "make -s");
    assert_string_equal(c.dir, "store");
    assert_string_equal(c.setup, "./setup {dir}");
    assert_string_equal(c.workload, "./workload {dir} | tee log");
    assert_string_equal(c.checker, "sh -c 'a; b'");
    assert_false(c.acknowledgements);
    assert_string_equal(c.backend, "ptrace");
    assert_string_equal(c.model, "xfs");
    assert_string_equal(c.stores, "px86");
    assert_string_equal(c.strategy, "random");
    assert_int_equal(c.budget, 0);
    assert_int_equal(c.jobs, 3);
    assert_int_equal(c.timeout, 5);
    assert_false(config_switch_value(&c, "auto_da_alloc"));
    assert_false(config_switch_value(&c, "sectors_tear"));
    config_free(&c);
}

static void mistakes_name_the_line_and_the_way_out(void **state)
{
    (void)state;
    assert_fails("[target]\nworkload = a\n\nchekcer = b\n",
                 "x.ini:4: [target] has no key chekcer; did you mean checker?");
    assert_fails("[tagret]\n", "x.ini:1: no section is called [tagret]; did you mean [target]?");
    assert_fails("[wombat]\n", "x.ini:1: no section is called [wombat]; there are [target], "
                               "[record], [model] and [explore]");
    assert_fails("[target]\njobs = 1\n",
                 "x.ini:2: [target] has no key jobs; it belongs under [explore]");
    assert_fails("[explore]\njobs = many\n",
                 "x.ini:2: jobs is a whole number up to 4096, not \"many\"");
    assert_fails("[explore]\njobs = -1\n",
                 "x.ini:2: jobs is a whole number up to 4096, not \"-1\"");
    assert_fails("[explore]\nbudget = 99999999999999999999\n",
                 "x.ini:2: budget is a whole number up to 18446744073709551615, not "
                 "\"99999999999999999999\"");
    assert_fails("[model]\nname = etx4\n", "x.ini:2: name cannot be \"etx4\"; did you mean ext4?");
    assert_fails("[model]\nauto_da_aloc = no\n",
                 "x.ini:2: [model] has no key auto_da_aloc; did you mean auto_da_alloc?");
    assert_fails("[target]\nacknowledgements = maybe\n",
                 "x.ini:2: acknowledgements is yes or no, not \"maybe\"");
    assert_fails("[target]\nworkload =\n",
                 "x.ini:2: workload is empty; leave the line out or give it a value");
    assert_fails("[target]\nworkload\n", "x.ini:2: neither a [section] nor key = value");
    assert_fails("dir = x\n", "x.ini:1: dir stands before the first [section]");
    assert_fails("[target]\ndir = x\ndir = y\n", "x.ini:3: dir was given already on line 2");
}

static void odd_files_are_refused(void **state)
{
    (void)state;
    struct config c;
    struct error e;
    config_begin(&c, NULL);
    assert_false(config_parse(&c, "x", "[target]\0\n", 10, true, &e));
    assert_string_equal(e.text, "x: not a text file");
    assert_false(config_parse(&c, "x", "[target]\n", 9, false, &e));
    assert_non_null(strstr(e.text, "[target] belongs in a target's own file"));
    assert_false(config_parse(&c, "x", "[model]\nauto_da_alloc = no\n", 27, true, &e));
    assert_string_equal(e.text, "x:2: [model] has no key auto_da_alloc");
    config_free(&c);
}

static void long_commands_stay_whole(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    char *command = xcalloc(1, LONG + 1);
    memset(command, 'x', LONG);
    char *text = xasprintf("[target]\nworkload = %s\ndir = d\n", command);
    struct config c;
    struct error e;
    assert_true(parse(&c, text, &e));
    assert_string_equal(c.workload, command);
    assert_string_equal(c.dir, "d");
    config_free(&c);
    free(text);
    free(command);
}

static void put_file(const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(path);
}

static void later_layers_win(void **state)
{
    (void)state;
    char *dirs = xasprintf("%s/near:%s/far", folder, folder);
    char *home = xasprintf("%s/home", folder), *target = xasprintf("%s/target", folder);
    setenv("XDG_CONFIG_DIRS", dirs, 1);
    setenv("XDG_CONFIG_HOME", home, 1);
    setenv("FLOTSAM_EXPLORE_TIMEOUT", "5", 1);
    put_file("far/flotsam/config",
             "[explore]\nbudget = 1\njobs = 1\ntimeout = 1\nstrategy = prefix\n[model]\nname = "
             "xfs\n");
    put_file("near/flotsam/config", "[explore]\nbudget = 2\njobs = 2\ntimeout = 2\n"
                                    "strategy = sync\n");
    put_file("home/flotsam/config", "[explore]\nbudget = 3\njobs = 3\ntimeout = 3\n");
    put_file("target/flotsam.ini", "[target]\nworkload = w\n[explore]\njobs = 4\ntimeout = 4\n");

    struct config c;
    struct error e;
    config_begin(&c, NULL);
    assert_true(config_load(&c, target, &e));
    assert_string_equal(c.model, "xfs");     /* far, the least important */
    assert_string_equal(c.strategy, "sync"); /* near */
    assert_int_equal(c.budget, 3);           /* the user's */
    assert_int_equal(c.jobs, 4);             /* the target's */
    assert_int_equal(c.timeout, 5);          /* the environment */
    assert_true(config_set(&c, "explore", "timeout", "6", "--timeout", &e));
    assert_int_equal(c.timeout, 6);
    assert_false(config_set(&c, "explore", "timeout", "x", "--timeout", &e));
    assert_non_null(strstr(e.text, "--timeout: timeout is a whole number"));
    char *data = config_data_dir(&c), *expected = xasprintf("%s/data", target);
    assert_string_equal(data, expected);
    config_free(&c);

    setenv("FLOTSAM_EXPLORE_TIMEOUT", "soon", 1);
    config_begin(&c, NULL);
    assert_false(config_load(&c, target, &e));
    assert_non_null(strstr(e.text, "FLOTSAM_EXPLORE_TIMEOUT: timeout is"));
    config_free(&c);
    unsetenv("FLOTSAM_EXPLORE_TIMEOUT");
    free(expected);
    free(data);
    free(dirs);
    free(home);
    free(target);
}

static void missing_files_and_workloads_are_told(void **state)
{
    (void)state;
    setenv("XDG_CONFIG_DIRS", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    struct config c;
    struct error e;
    config_begin(&c, NULL);
    assert_false(config_load(&c, "/nonexistent.ini", &e));
    assert_string_equal(e.text, "no config at /nonexistent.ini: No such file or directory");
    assert_false(config_load(&c, "/", &e));
    assert_non_null(strstr(e.text, "/flotsam.ini"));
    put_file("empty.ini", "[target]\n");
    char *path = xasprintf("%s/empty.ini", folder);
    assert_false(config_load(&c, path, &e));
    assert_non_null(strstr(e.text, "empty.ini: no workload"));
    free(path);
    config_free(&c);
}

/* What the shell makes of a command: the arguments of printf, one a line. */
static void assert_shell_sees(const char *command, const char *dir, const char *expected)
{
    char *full = config_command(command, dir);
    FILE *p = popen(full, "r");
    assert_non_null(p);
    char text[512] = {0};
    size_t n = fread(text, 1, sizeof text - 1, p);
    text[n] = '\0';
    assert_int_equal(pclose(p), 0);
    assert_string_equal(text, expected);
    free(full);
}

static void directories_reach_the_shell_unharmed(void **state)
{
    (void)state;
    static const char *const names[] = {"/plain/dir",      "/with space",  "/it's",    "/a\"b",
                                        "/$HOME`id`$(id)", "/back\\slash", "/*;&|<>#", "-n",
                                        "/new\nline",      "/{dir}",       "/end\\"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *line = xasprintf("[%s]\n", names[i]);
        assert_shell_sees("printf '[%s]\\n' {dir}", names[i], line);
        assert_shell_sees("printf '[%s]\\n' \"{dir}\"", names[i], line);
        assert_shell_sees("printf '[%s]\\n' '{dir}'", names[i], line);
        free(line);
        line = xasprintf("[a'%s/b]\n", names[i]);
        assert_shell_sees("printf '[%s]\\n' a\\'{dir}/b", names[i], line);
        free(line);
    }
    char *same = config_command("./check {dir}", "/tmp/data-1.2");
    assert_string_equal(same, "./check /tmp/data-1.2"); /* as a person would write it */
    free(same);
}

static void a_slip_in_dir_is_told(void **state)
{
    (void)state;
    static const char *const slips[] = {"./check {dri}",       "./check {DIR}", "./check '{Dir}'",
                                        "./check {directory}", "x={dirs} y",    "cat {dir}/a {di}",
                                        "./check {data_dir}"};
    static const char *const sound[] = {"./check {dir}",
                                        "x=${dri} ls ${DIR}",
                                        "cp {a,b} {dir,dri}",
                                        "awk '{print}' {dir}/a",
                                        "awk '{ dri }' {dir}/a",
                                        "find . -exec rm {} +",
                                        "perl -e 'sub no {die} no'",
                                        "{ cd {dir}; }",
                                        "x{",
                                        "{"};
    struct error e;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        if (config_command_sound(slips[i], &e))
            fail_msg("%s", slips[i]);
        assert_non_null(strstr(e.text, "did you mean {dir}"));
    }
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        if (!config_command_sound(sound[i], &e))
            fail_msg("%s: %s", sound[i], e.text);
    struct config c;
    config_begin(&c, NULL);
    assert_false(config_set(&c, "target", "workload", "./w {dri}", "f:3", &e));
    assert_non_null(strstr(e.text, "f:3: workload: {dri} stands for nothing"));
    config_free(&c);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_documented_ones),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(mistakes_name_the_line_and_the_way_out),
        cmocka_unit_test(odd_files_are_refused),
        cmocka_unit_test(long_commands_stay_whole),
        cmocka_unit_test(later_layers_win),
        cmocka_unit_test(missing_files_and_workloads_are_told),
        cmocka_unit_test(directories_reach_the_shell_unharmed),
        cmocka_unit_test(a_slip_in_dir_is_told),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return failed;
}
