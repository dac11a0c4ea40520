/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stacks of real programs, built in every usual way: at every stop they equal what libdw's own
 * unwinder gives. Where libdw is not the judge (a deleted library), the expected stack is known.
 */
#include "tests/unit/stops.h"

#include <sys/prctl.h>

#include "engine/map.h"
#include "engine/vec.h"

/* Stands for the session: keeps what the unwinder gives it. */
struct recording {
    struct map modules, stacks;
    vec_of(char *) paths; /* of module 1, 2, … */
    size_t notices;
};

uint32_t recording_module(struct recording *r, const char *path, const char *build_id)
{
    char *both = xasprintf("%s\n%s", path, build_id);
    bool added;
    uint64_t *number = map_put(&r->modules, both, strlen(both), &added);
    if (added) {
        vec_push(&r->paths, xstrdup(path));
        *number = r->paths.n;
    }
    free(both);
    return (uint32_t)*number;
}

uint32_t recording_stack(struct recording *r, const struct frame *frames, size_t n)
{
    bool added;
    uint64_t *number = map_put(&r->stacks, frames, n * sizeof *frames, &added);
    if (added)
        *number = r->stacks.n;
    return (uint32_t)*number;
}

void recording_notice(struct recording *r, const char *kind, const char *what)
{
    (void)kind, (void)what;
    r->notices++;
}

static void recording_clear(struct recording *r)
{
    for (size_t i = 0; i < r->paths.n; i++)
        free(r->paths.at[i]);
    vec_free(&r->paths);
    map_free(&r->modules);
    map_free(&r->stacks);
}

struct fixture {
    struct recording recording;
    struct stops stops;
    char *folder;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->folder = folder_make();
    f->stops.unwinder = unwinder_new(&f->recording);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    unwind_checker_free(f->stops.checker);
    unwinder_free(f->stops.unwinder);
    recording_clear(&f->recording);
    folder_remove(f->folder);
    free(f);
    return 0;
}

/* Runs a program of the folder; it must succeed, and all its stacks must be right. */
static void run(struct fixture *f, const char *program, const char *argument)
{
    char *path = path_in(f->folder, program), *word = argument ? xstrdup(argument) : NULL;
    char *argv[] = {path, word, NULL};
    unwind_checker_free(f->stops.checker);
    f->stops.checker = NULL;
    stops_run(&f->stops, f->folder, argv);
    free(path);
    free(word);
    assert_int_equal(f->stops.status, 0);
    assert_int_equal(f->stops.n, 0);
}

static void run_equal(struct fixture *f, const char *program, const char *argument)
{
    run(f, program, argument);
    struct unwind_verdict v = unwind_checker_verdict(f->stops.checker);
    if (v.different)
        fail_msg("%s: %llu stacks of %llu differ from libdw's; the first:\n%s", program,
                 (unsigned long long)v.different, (unsigned long long)(v.different + v.equal),
                 v.first);
    assert_true(v.equal > 0);
}

/* Frames of all shapes: saved registers, alloca, over-aligned locals, variable arguments, calls
 * through the PLT that are bound on the way, callbacks from a library. */
static const char shapes[] =
    "#include <alloca.h>\n"
    "#include <math.h>\n"
    "#include <stdarg.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <unistd.h>\n"
    "#define FAR __attribute__((noinline, noclone))\n"
    "FAR static int told(int n, ...)\n"
    "{\n"
    "    va_list list; va_start(list, n);\n"
    "    int a = va_arg(list, int); double d = va_arg(list, double); va_end(list);\n"
    "    char text[64]; int k = snprintf(text, sizeof text, \"%d %g\\n\", a, d);\n"
    "    return k + (int)write(-1, text, (size_t)k);\n"
    "}\n"
    "FAR static int aligned(int n)\n"
    "{\n"
    "    char line[256] __attribute__((aligned(128)));\n"
    "    memset(line, n, sizeof line);\n"
    "    char *more = alloca((size_t)n * 16); memset(more, 1, (size_t)n * 16);\n"
    "    return told(n, line[n] + more[0], 0.5 * n) + line[0];\n"
    "}\n"
    "FAR static int wide(int a, int b, int c, int d, int e, int f, int g, int h)\n"
    "{\n"
    "    int x = aligned(a + 1), y = aligned(b + 2), z = aligned(c + 3);\n"
    "    return x * d + y * e + z * f + g * h;\n"
    "}\n"
    "static int compare(const void *a, const void *b)\n"
    "{\n"
    "    int x = *(const int *)a, y = *(const int *)b;\n"
    "    if (write(-1, \"x\", 1) != -1) abort();\n"
    "    return (x > y) - (x < y);\n"
    "}\n"
    "FAR static int sorted(int n)\n"
    "{\n"
    "    int v[8]; for (int i = 0; i < 8; i++) v[i] = n * 7 * (i + 1) % 11;\n"
    "    qsort(v, 8, sizeof v[0], compare);\n"
    "    return v[0] + wide(1, 2, 3, 4, 5, 6, 7, v[1]);\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    int sum = sorted(argc);\n"
    "    getsid(-4242);\n"
    "    sum += (int)fmod(sum, 3.0);\n"
    "    sum += sorted(argc + 1);\n"
    "    char *copy = strdup(argv[0]);\n"
    "    sum += atoi(copy) + (int)strlen(copy);\n"
    "    free(copy);\n"
    "    puts(sum ? \"some\" : \"none\");\n"
    "    return fflush(stdout);\n"
    "}\n";

static void test_every_way_of_building(void **state)
{
    struct fixture *f = *state;
    static const char *const ways[] = {
        "cc -O0",
        "cc -O2",
        "cc -O2 -fomit-frame-pointer -z lazy -fcf-protection=none",
        "cc -O2 -fno-omit-frame-pointer",
        "cc -O2 -z now -s",
        "cc -Os -no-pie -z lazy",
        "cc -O2 -static",
        "cc -O2 -static-pie",
        "cc -O3 -mavx -mincoming-stack-boundary=4",
        "clang -O0",
        "clang -O2",
        "clang -O2 -fomit-frame-pointer -z lazy",
    };
    file_write(f->folder, "shapes.c", shapes);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *command = xasprintf("%s -w -o shapes shapes.c -lm >&2", ways[i]);
        shell(f->folder, command);
        free(command);
        run_equal(f, "shapes", NULL);
        /* main, sorted, wide, aligned, told, write, and what is around main */
        assert_true(f->stops.deepest >= 7);
    }
    assert_int_equal(f->recording.notices, 0);
}

/* Without .eh_frame: by .debug_frame, and without that by the frame pointer. */
static void test_poorer_unwind_tables(void **state)
{
    struct fixture *f = *state;
    static const char *const ways[] = {
        "cc -O2 -g -fno-asynchronous-unwind-tables",
        "cc -O2 -g -gz -fno-asynchronous-unwind-tables",
        "cc -O1 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer",
        "cc -O2 -fno-asynchronous-unwind-tables -fomit-frame-pointer",
    };
    file_write(f->folder, "shapes.c", shapes);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *command = xasprintf("%s -w -o shapes shapes.c -lm >&2", ways[i]);
        shell(f->folder, command);
        free(command);
        run_equal(f, "shapes", NULL);
    }
}

static void test_signal_handlers(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "signals.c",
               "#include <setjmp.h>\n"
               "#include <signal.h>\n"
               "#include <stdlib.h>\n"
               "#include <sys/mman.h>\n"
               "#include <unistd.h>\n"
               "static sigjmp_buf back;\n"
               "static void inner(int s) { (void)s; getsid(-4242); write(-1, \"i\", 1); }\n"
               "static void outer(int s) { (void)s; raise(SIGUSR2); write(-1, \"o\", 1); }\n"
               "static void fault(int s) { write(-1, \"f\", 1); siglongjmp(back, s); }\n"
               "static void on(int s, void (*f)(int), int flags)\n"
               "{\n"
               "    struct sigaction a = {.sa_handler = f, .sa_flags = flags};\n"
               "    if (sigaction(s, &a, 0)) abort();\n"
               "}\n"
               "__attribute__((noinline)) static int touch(volatile int *p) { return *p; }\n"
               "int main(void)\n"
               "{\n"
               "    char *room = mmap(0, 65536, PROT_READ | PROT_WRITE,\n"
               "                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
               "    stack_t alternate = {.ss_sp = room, .ss_size = 65536};\n"
               "    if (sigaltstack(&alternate, 0)) abort();\n"
               "    on(SIGUSR1, outer, SA_ONSTACK); on(SIGUSR2, inner, 0);\n"
               "    on(SIGSEGV, fault, SA_ONSTACK);\n"
               "    raise(SIGUSR1);\n"
               "    kill(getpid(), SIGUSR2);\n"
               "    if (sigsetjmp(back, 1) == 0) return touch((int *)8) + 1;\n"
               "    return 0;\n"
               "}\n");
    static const char *const ways[] = {"cc -O0", "cc -O2", "cc -O2 -static", "clang -O2"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *command = xasprintf("%s -w -o signals signals.c >&2", ways[i]);
        shell(f->folder, command);
        free(command);
        f->stops.signal_frames = 0;
        run_equal(f, "signals", NULL);
        /* raise in outer in main: the handlers' own stops, and many single steps */
        assert_true(f->stops.signal_frames > 100);
    }
}

static const char recursion[] =
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <unistd.h>\n"
    "static volatile char sink;\n"
    "__attribute__((noinline)) static int down(int n)\n"
    "{\n"
    "    char room[300]; memset(room, n, sizeof room); sink = room[n % 300];\n"
    "    if (n % 50 == 0) write(-1, room, 1);\n"
    "    return n ? down(n - 1) + room[0] : 0;\n"
    "}\n"
    "int main(int argc, char **argv) { (void)argc; return down(atoi(argv[1])) & 0; }\n";

static void test_a_stack_larger_than_the_snapshot(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "recursion.c", recursion);
    shell(f->folder, "cc -w -O2 -fno-optimize-sibling-calls -o recursion recursion.c");
    run_equal(f, "recursion", "900");
    assert_true(f->stops.deepest > 900 && f->stops.deepest < UNWIND_DEPTH_MAX);
    assert_int_equal(f->recording.notices, 0);
}

static void test_a_stack_deeper_than_the_limit_keeps_the_innermost_frames(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "recursion.c", recursion);
    shell(f->folder, "cc -w -O2 -fno-optimize-sibling-calls -o recursion recursion.c");
    run_equal(f, "recursion", "2000");
    assert_int_equal(f->stops.deepest, UNWIND_DEPTH_MAX);
    assert_true(f->recording.notices > 0);
}

static void test_threads(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "threads.c",
               "#include <pthread.h>\n"
               "#include <unistd.h>\n"
               "static void *work(void *p)\n"
               "{\n"
               "    for (int i = 0; i < 200; i++) write(-1, p, 1);\n"
               "    return p;\n"
               "}\n"
               "int main(void)\n"
               "{\n"
               "    pthread_t t[4];\n"
               "    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, \"x\");\n"
               "    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);\n"
               "    return 0;\n"
               "}\n");
    shell(f->folder, "cc -w -O2 -pthread -o threads threads.c");
    run_equal(f, "threads", NULL);
    /* Eight hundred writes of one kind: few stacks. */
    assert_true(unwind_checker_verdict(f->stops.checker).equal >= 800);
    assert_true(f->recording.stacks.n < 120);
}

static const char library[] = "#include <unistd.h>\n"
                              "int NAME(int (*f)(int), int n)\n"
                              "{\n"
                              "    volatile char room[SIZE]; room[n] = 1;\n"
                              "    return f(n) + room[n] + (int)write(-1, \"l\", 1);\n"
                              "}\n";

/* Loads libraries one after another; or only argv[1], and that after deleting it. */
static const char loader[] =
    "#include <dlfcn.h>\n"
    "#include <fcntl.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <unistd.h>\n"
    "static int back(int n) { return n + (int)write(-1, \"b\", 1); }\n"
    "static void use(const char *path, const char *name, int removes)\n"
    "{\n"
    "    char link[64];\n"
    "    if (removes) {\n"
    "        sprintf(link, \"/proc/self/fd/%d\", open(path, O_RDONLY));\n"
    "        unlink(path);\n"
    "        path = link;\n"
    "    }\n"
    "    void *l = dlopen(path, RTLD_LAZY);\n"
    "    if (!l) abort();\n"
    "    int (*f)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(l, name);\n"
    "    f(back, 3);\n"
    "    dlclose(l);\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    if (argc > 1) { use(argv[1], \"one\", 1); return 0; }\n"
    "    use(\"./one.so\", \"one\", 0); use(\"./two.so\", \"two\", 0);\n"
    "    for (int i = 0; i < 3; i++) {\n"
    "        if (system(i % 2 ? \"cp one.so t && mv t x.so\" : \"cp two.so x.so\")) abort();\n"
    "        use(\"./x.so\", i % 2 ? \"one\" : \"two\", 0);\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

static void build_loader(struct fixture *f)
{
    file_write(f->folder, "library.c", library);
    file_write(f->folder, "loader.c", loader);
    shell(f->folder, "cc -w -O2 -shared -fPIC -DNAME=one -DSIZE=64 -s -o one.so library.c");
    shell(f->folder, "cc -w -O2 -shared -fPIC -DNAME=two -DSIZE=4000 -o two.so library.c");
    shell(f->folder, "cc -w -O2 -o loader loader.c -ldl");
}

/* Also one after another under the same name and, mostly, at the same address; and the shell that
 * copies them: fork, exec and vfork. */
static void test_libraries_that_come_and_go(void **state)
{
    struct fixture *f = *state;
    build_loader(f);
    run_equal(f, "loader", NULL);
}

/* The frames of the last stack in which a module with this name's end occurs. */
static const char *wanted;
static size_t wanted_at, wanted_depth;

static void look_for_module(struct stops *s, const struct user_regs_struct *registers,
                            uint32_t stack)
{
    (void)registers, (void)stack;
    struct fixture *f = (struct fixture *)((char *)s - offsetof(struct fixture, stops));
    const struct frame *frames;
    size_t depth = unwind_last(s->unwinder, &frames, NULL), length = strlen(wanted);
    for (size_t i = 0; i < depth; i++) {
        const char *path = frames[i].module ? f->recording.paths.at[frames[i].module - 1] : "";
        size_t n = strlen(path);
        if (n >= length && strcmp(path + n - length, wanted) == 0) {
            wanted_at = i;
            wanted_depth = depth;
        }
    }
}

/* libdw looks for the file by its name and gives up; the mapping still knows it. */
static void test_a_library_that_was_deleted(void **state)
{
    struct fixture *f = *state;
    if (geteuid() != 0)
        skip(); /* the kernel lets only root open what is mapped without going by its name */
    build_loader(f);
    shell(f->folder, "cp one.so 'a strange\nname (deleted)'");
    char *strange = path_in(f->folder, "a strange\nname (deleted)");
    wanted = "/a strange\nname (deleted)";
    wanted_depth = 0;
    f->stops.look = look_for_module;
    run(f, "loader", strange);
    free(strange);
    /* write, one, use, main, and the two of libc and one of the program around main */
    assert_int_equal(wanted_at, 1);
    assert_true(wanted_depth >= 6);
}

static void test_fork_and_exec(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "family.c",
               "#include <spawn.h>\n"
               "#include <stdlib.h>\n"
               "#include <sys/wait.h>\n"
               "#include <unistd.h>\n"
               "extern char **environ;\n"
               "int main(int argc, char **argv)\n"
               "{\n"
               "    if (argc > 1) return write(-1, \"e\", 1) == 0;\n"
               "    char *again[] = {argv[0], \"x\", 0}; int status; pid_t pid;\n"
               "    if (fork() == 0) { write(-1, \"c\", 1); execv(argv[0], again); _exit(1); }\n"
               "    wait(&status); if (status) return 1;\n"
               "    if (fork() == 0) { write(-1, \"c\", 1); _exit(0); }\n"
               "    wait(&status); if (status) return 1;\n"
               "    if (posix_spawn(&pid, argv[0], 0, 0, again, environ)) return 1;\n"
               "    wait(&status); if (status) return 1;\n"
               "    return system(\"true\");\n"
               "}\n");
    shell(f->folder, "cc -w -O2 -o family family.c");
    run_equal(f, "family", NULL);
}

static void test_exceptions(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "throws.cc",
               "#include <stdexcept>\n"
               "#include <string>\n"
               "#include <unistd.h>\n"
               "struct guard { ~guard() { (void)!write(-1, \"g\", 1); } };\n"
               "__attribute__((noinline)) int deep(int n)\n"
               "{\n"
               "    guard g;\n"
               "    if (n == 0) throw std::runtime_error(std::string(40, 'x'));\n"
               "    return deep(n - 1) + 1;\n"
               "}\n"
               "int main()\n"
               "{\n"
               "    try { return deep(5); }\n"
               "    catch (const std::exception &e) { getsid(-4242);\n"
               "        (void)!write(-1, e.what(), 3); }\n"
               "    try { return deep(2); } catch (...) { return 0; }\n"
               "}\n");
    shell(f->folder, "c++ -w -O0 -o throws throws.cc");
    run_equal(f, "throws", NULL);
    shell(f->folder, "c++ -w -O2 -o throws throws.cc");
    run_equal(f, "throws", NULL);
}

/* Code that no file has, code of a file that became executable without a word (mprotect), and a
 * file mapped as code that holds none. */
static void test_code_made_at_run_time(void **state)
{
    struct fixture *f = *state;
    file_write(
        f->folder, "jit.c",
        "#include <fcntl.h>\n"
        "#include <stdlib.h>\n"
        "#include <string.h>\n"
        "#include <sys/mman.h>\n"
        "#include <unistd.h>\n"
        "static void back(void) { write(-1, \"b\", 1); }\n"
        "/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */\n"
        "static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};\n"
        "int main(int argc, char **argv)\n"
        "{\n"
        "    (void)argc;\n"
        "    char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
        "    memcpy(p, code, sizeof code);\n"
        "    mprotect(p, 4096, PROT_READ | PROT_EXEC);\n"
        "    ((void (*)(void (*)(void)))p)(back);\n"
        "    mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(\"jit.c\", O_RDONLY), 0);\n"
        "    int fd = open(\"plain.so\", O_RDONLY);\n"
        "    p = mmap(0, 1 << 16, PROT_READ, MAP_PRIVATE, fd, 0);\n"
        "    mprotect(p, 1 << 16, PROT_READ | PROT_EXEC);\n"
        "    ((void (*)(void (*)(void)))(p + strtol(argv[1], 0, 16)))(back);\n"
        "    return 0;\n"
        "}\n");
    file_write(f->folder, "plain.c", "void plain(void (*f)(void)) { f(); f(); }\n");
    shell(f->folder, "cc -w -O2 -fno-optimize-sibling-calls -shared -nostdlib -o plain.so plain.c");
    shell(f->folder, "cc -w -O2 -fno-optimize-sibling-calls -o jit jit.c");
    char *offset =
        xasprintf("%llx", (unsigned long long)symbol_address(f->folder, "plain.so", "plain"));
    wanted = "/plain.so";
    wanted_depth = 0;
    f->stops.look = look_for_module;
    run_equal(f, "jit", offset);
    free(offset);
    assert_int_equal(wanted_at, 2); /* write, back, plain */
    assert_true(wanted_depth >= 6);
}

/* Two recordings of one program: the addresses that are kept do not depend on where it was
 * loaded. */
static void test_stacks_do_not_depend_on_the_load_address(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "shapes.c", shapes);
    shell(f->folder, "cc -w -O2 -o shapes shapes.c -lm");
    run_equal(f, "shapes", NULL);
    size_t first = f->recording.stacks.n;
    run_equal(f, "shapes", NULL);
    /* Only the loader and its search for addresses may differ from run to run. */
    assert_true(f->recording.stacks.n - first < first / 10);
}

/* Only root may follow the kernel's links to mapped files; others go by the file's name. */
static void test_without_privileges(void **state)
{
    enum { NOBODY = 65534 };
    struct fixture *f = *state;
    file_write(f->folder, "shapes.c", shapes);
    shell(f->folder, "cc -w -O2 -o shapes shapes.c -lm && chmod 755 . shapes");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* Who changes his identity hides his memory, which the program has until it is executed. */
        if (geteuid() == 0 &&
            (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0))
            _exit(100);
        run(f, "shapes", NULL);
        struct unwind_verdict v = unwind_checker_verdict(f->stops.checker);
        _exit(v.equal > 1000 && v.different == 0 && f->recording.paths.n >= 3 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void check_with_other_registers(struct stops *s, const struct user_regs_struct *registers,
                                       uint32_t stack)
{
    (void)stack;
    struct user_regs_struct other = *registers;
    other.rip++;
    assert_false(unwind_check(s->checker, s->unwinder, s->tracees[0].tid, &other));
}

/* Or all of the above would mean nothing. */
static void test_a_difference_is_seen(void **state)
{
    struct fixture *f = *state;
    file_write(f->folder, "recursion.c", recursion);
    shell(f->folder, "cc -w -O2 -static -o recursion recursion.c");
    f->stops.look = check_with_other_registers;
    run(f, "recursion", "3");
    struct unwind_verdict v = unwind_checker_verdict(f->stops.checker);
    assert_true(v.equal > 0);
    assert_int_equal(v.different, v.equal);
    assert_non_null(strstr(v.first, "! #0"));
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_every_way_of_building),
        CASE(test_poorer_unwind_tables),
        CASE(test_signal_handlers),
        CASE(test_a_stack_larger_than_the_snapshot),
        CASE(test_a_stack_deeper_than_the_limit_keeps_the_innermost_frames),
        CASE(test_threads),
        CASE(test_libraries_that_come_and_go),
        CASE(test_a_library_that_was_deleted),
        CASE(test_fork_and_exec),
        CASE(test_exceptions),
        CASE(test_code_made_at_run_time),
        CASE(test_stacks_do_not_depend_on_the_load_address),
        CASE(test_without_privileges),
        CASE(test_a_difference_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
