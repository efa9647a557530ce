/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Addresses in symbols-subject.cc, loaded as built, without debugging information, and
   with it in another file; files that have changed; helpers that die. */
#include "config.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/elffile.h"
#include "system/procfs.h"
#include "symbols/symbols.h"

static char scratch[] = "/tmp/memtop-symbols-XXXXXX";

/* ---- the subject ---- */

/* Lines are found by their comments. */
static unsigned
line_of(const char *what)
{
    FILE *source = fopen(SUBJECT_SOURCE, "r");
    char line[200], comment[100];
    unsigned number = 0;

    assert_non_null(source);
    snprintf(comment, sizeof comment, "/* line of %s */", what);
    while (fgets(line, sizeof line, source) != NULL) {
        number++;
        if (strstr(line, comment) != NULL) {
            fclose(source);
            return number;
        }
    }
    fail_msg("no line of %s", what);
    return 0;
}

struct symbol_search {
    const char *path;
    struct symbols_module module;
};

static int
look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    struct symbol_search *search = context;

    (void)size;
    if (strcmp(info->dlpi_name, search->path) != 0)
        return 0;
    search->module.path = search->path;
    search->module.bias = info->dlpi_addr;
    search->module.start = UINT64_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD)
            continue;
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (start < search->module.start)
            search->module.start = start;
        if (start + header->p_memsz > search->module.end)
            search->module.end = start + header->p_memsz;
    }
    return 1;
}

static struct symbols_module
module_of(const char *path)
{
    struct symbol_search search = {.path = path};
    int descriptor = open(path, O_RDONLY);

    assert_int_equal(1, dl_iterate_phdr(look_at, &search));
    assert_true(descriptor >= 0);
    int size = elffile_build_id(descriptor, search.module.build_id,
                                sizeof search.module.build_id);
    assert_int_equal(20, size);
    search.module.build_id_size = (unsigned)size;
    close(descriptor);
    return search.module;
}

/* Loads a variant of the subject, made by a command with $SUBJECT and $OUT. */
static void *
load(const char *name, const char *command, char *path)
{
    snprintf(path, 200, "%s/%s", scratch, name);
    setenv("SUBJECT", SUBJECT, 1);
    setenv("SOURCE", SUBJECT_SOURCE, 1);
    setenv("OUT", path, 1);
    assert_int_equal(0, system(command));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        fail_msg("%s", dlerror());
    return handle;
}

/* The address of a call in the function. */
static uint64_t
call_in(void *handle, const char *function)
{
    void *(*call)(void);

    *(void **)&call = dlsym(handle, function);
    assert_non_null(call);
    return (uint64_t)(uintptr_t)call() - 1;
}

/* ---- asking ---- */

struct asked {
    struct symbols *symbols;
    struct symbols_space *space;
};

/* pid: the process whose files are looked at as it sees them; 0: none. */
static struct asked
begin_with(const char *path, pid_t pid, bool debuginfod)
{
    const struct symbols_options options = {.debuginfod = debuginfod};
    struct asked asked = {.symbols = symbols_new(&options)};
    struct symbols_module module = module_of(path);

    assert_non_null(asked.symbols);
    asked.space = symbols_space(asked.symbols, pid);
    assert_non_null(asked.space);
    assert_true(symbols_map(asked.space, &module, 1));
    assert_int_equal(-1, symbols_descriptor(asked.symbols));
    return asked;
}

static struct asked
begin(const char *path, bool debuginfod)
{
    return begin_with(path, getpid(), debuginfod);
}

static const struct symbol *
answer(struct asked *asked, uint64_t address)
{
    const struct symbol *symbol = symbols_at(asked->space, address);

    assert_true(symbols_wait(asked->symbols, -1));
    assert_ptr_equal(symbol, symbols_at(asked->space, address));
    return symbol;
}

static void
check_frame(const struct symbol *symbol, unsigned index, const char *function,
            const char *line)
{
    assert_int_equal(SYMBOL_KNOWN, symbol->state);
    assert_true(index < symbol->count);
    const struct symbol_frame *frame = &symbol->frames[index];
    assert_string_equal(function, frame->function);
    if (line == NULL) {
        assert_null(frame->file);
        assert_int_equal(0, frame->line);
        return;
    }
    assert_non_null(frame->file);
    assert_non_null(strstr(frame->file, "symbols-subject.cc"));
    assert_int_equal(line_of(line), frame->line);
}

#ifdef HAVE_LIBDW
#define LINE(what) what
#else
#define LINE(what) NULL
#endif
#ifdef HAVE_LIBIBERTY
#define PUT "shop::Shelf<shop::Clerk>::put"
#define HIDDEN "hidden"
#else
#define PUT "_ZN4shop5ShelfINS_5ClerkEE3putES1_i"
#define HIDDEN "_ZL6hiddenv"
#endif

static void
check_all(const char *path, void *handle)
{
    struct asked asked = begin(path, false);
    const struct symbol *plain = answer(&asked, call_in(handle, "subject_plain"));

    assert_string_equal(path, plain->module);
    assert_int_equal(1, plain->count);
    check_frame(plain, 0, "subject_plain", LINE("plain"));
    check_frame(answer(&asked, call_in(handle, "subject_template")), 0, PUT, LINE("put"));
    check_frame(answer(&asked, call_in(handle, "subject_static")), 0, HIDDEN,
                LINE("hidden"));
    const struct symbol *inlined = answer(&asked, call_in(handle, "subject_inlined"));
#ifdef HAVE_LIBDW
    assert_int_equal(3, inlined->count);
    check_frame(inlined, 0, "shop::innermost", "innermost");
    check_frame(inlined, 1, "shop::Clerk::serve", "serve");
    check_frame(inlined, 2, "subject_inlined", "inlined");
    /* Equal names must be equal pointers, because functions are compared by them. */
    assert_ptr_equal(plain->frames[0].file, inlined->frames[0].file);
#else
    assert_int_equal(1, inlined->count);
    check_frame(inlined, 0, "subject_inlined", NULL);
#endif
    struct symbols_progress progress = symbols_progress(asked.symbols);
    assert_int_equal(4, progress.asked);
    assert_int_equal(4, progress.answered);
    assert_null(progress.file);
    symbols_free(asked.symbols);
}

static void
test_as_built(void **state)
{
    char path[200];
    void *handle = load("built.so", "cp $SUBJECT $OUT", path);

    (void)state;
    check_all(path, handle);
    dlclose(handle);
}

/* Only exported functions have names; others have none, not that of their neighbour. */
static void
test_stripped(void **state)
{
    char path[200];
    void *handle = load("stripped.so", "strip -o $OUT $SUBJECT", path);
    struct asked asked = begin(path, false);

    (void)state;
    check_frame(answer(&asked, call_in(handle, "subject_plain")), 0, "subject_plain",
                NULL);
    const struct symbol *hidden = answer(&asked, call_in(handle, "subject_static"));
    assert_int_equal(SYMBOL_UNNAMED, hidden->state);
    assert_int_equal(0, hidden->count);
    assert_string_equal(path, hidden->module);
    assert_int_equal(call_in(handle, "subject_static") - module_of(path).bias,
                     hidden->offset);
    symbols_free(asked.symbols);
    dlclose(handle);
}

#ifdef HAVE_LIBDW
/* clang writes no table of units by address. */
static void
test_clang(void **state)
{
    char path[200];

    (void)state;
    if (system("command -v clang++ >/dev/null 2>&1") != 0)
        skip();
    void *handle = load("clang.so",
                        "clang++ -std=c++17 -g -O2 -fPIC -shared -Wl,--build-id=sha1"
                        " -o $OUT $SOURCE",
                        path);
    check_all(path, handle);
    dlclose(handle);
    handle = load("lines.so",
                  "clang++ -std=c++17 -gline-tables-only -O2 -fPIC -shared"
                  " -Wl,--build-id=sha1 -o $OUT $SOURCE",
                  path);
    struct asked asked = begin(path, false);
    check_frame(answer(&asked, call_in(handle, "subject_template")), 0, PUT, "put");
    symbols_free(asked.symbols);
    dlclose(handle);
}

static void
test_separate_file(void **state)
{
    char path[200];
    void *handle = load("linked.so",
                        "objcopy --only-keep-debug $SUBJECT ${OUT%.so}.debug"
                        " && strip -o $OUT $SUBJECT"
                        " && objcopy --add-gnu-debuglink=${OUT%.so}.debug $OUT",
                        path);

    (void)state;
    check_all(path, handle);
    dlclose(handle);
}
#endif

/* A function without debugging information lies between two parts of a unit, the first
   of which ends with a line without code: the function has no line. */
static void
test_between_units(void **state)
{
    char path[200];
    void *handle = load(
        "between.so",
        "printf '#ifdef __clang__\n#define VIEW\n#else\n#define VIEW \" view "
        "0\"\n#endif\n"
        "int with(void) { return 0; }"
        " __attribute__((section(\".text.unlikely\"))) void cold(void)"
        " { __asm__ volatile(\"nop; .loc 1 7 1\" VIEW); __builtin_unreachable(); }' |"
        " ${CC:-cc} -g -O2 -fPIC -x c - -c -o $OUT.1 &&"
        " printf '#define PART __attribute__((noinline, section(\".text.startup\")))\n"
        "PART void *here(void) { return __builtin_return_address(0); }"
        " PART void *between(void) { void *volatile at = here(); return at; }' |"
        " ${CC:-cc} -g0 -O1 -fPIC -x c - -c -o $OUT.2 &&"
        " ${CC:-cc} -shared -Wl,--build-id -o $OUT $OUT.1 $OUT.2",
        path);
    struct asked asked = begin(path, false);

    (void)state;
    check_frame(answer(&asked, call_in(handle, "between")), 0, "between", NULL);
    symbols_free(asked.symbols);
    dlclose(handle);
}

/* ---- files that have changed ---- */

static void
test_changed_file(void **state)
{
    char path[200], command[1000];
    void *handle = load("changed.so", "cp $SUBJECT $OUT", path);
    struct asked asked = begin_with(path, 0, false);
    struct asked gone = begin_with(path, 0, false);
    uint64_t address = call_in(handle, "subject_plain");

    (void)state;
    snprintf(command, sizeof command,
             "printf 'void *subject_plain(void) { return 0; }' |"
             " ${CC:-cc} -shared -fPIC -Wl,--build-id -x c - -o %s.new && mv %s.new %s",
             path, path, path);
    assert_int_equal(0, system(command));
    const struct symbol *symbol = answer(&asked, address);
    assert_int_equal(SYMBOL_FILE_CHANGED, symbol->state);
    assert_int_equal(0, symbol->count);
    unlink(path);
    assert_int_equal(SYMBOL_FILE_GONE, answer(&gone, address)->state);
    symbols_free(asked.symbols);
    symbols_free(gone.symbols);
    dlclose(handle);
}

static uint64_t
inode_of(const char *path)
{
    struct stat st;

    assert_int_equal(0, stat(path, &st));
    return st.st_ino;
}

/* Pipes are not waited for, devices are not read, and a file is not used if only its
   name is known. */
static void
test_no_file(void **state)
{
    struct symbols *symbols = symbols_new(NULL);
    struct symbols_space *space = symbols_space(symbols, 0);
    char pipe[200];
    struct symbols_module modules[] = {
        {.start = 0x1000, .end = 0x2000, .path = pipe},
        {.start = 0x2000, .end = 0x3000, .path = "/dev/zero"},
        {.start = 0x3000, .end = 0x4000, .path = "linux-vdso.so.1"},
        {.start = 0x4000, .end = 0x5000, .path = SUBJECT_SOURCE},
        {.start = 0x5000, .end = 0x6000, .path = ""},
        {.start = 0x6000, .end = 0x7000, .path = SUBJECT_SOURCE},
    };
    enum symbol_state expected[] = {SYMBOL_FILE_CHANGED, SYMBOL_FILE_CHANGED,
                                    SYMBOL_FILE_GONE, SYMBOL_FAILED, SYMBOL_FILE_GONE,
                                    SYMBOL_FILE_GONE};

    (void)state;
    snprintf(pipe, sizeof pipe, "%s/pipe", scratch);
    assert_int_equal(0, mkfifo(pipe, 0600));
    modules[0].inode = inode_of(pipe);
    modules[1].inode = inode_of("/dev/zero");
    modules[3].inode = inode_of(SUBJECT_SOURCE);
    assert_true(symbols_map(space, modules, 6));
    for (unsigned i = 0; i < 6; i++)
        symbols_at(space, 0x1100 + 0x1000 * i);
    assert_true(symbols_wait(symbols, -1));
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(expected[i], symbols_at(space, 0x1100 + 0x1000 * i)->state);
    assert_int_equal(SYMBOL_NO_MODULE, symbols_at(space, 0xfff)->state);
    assert_int_equal(SYMBOL_NO_MODULE, symbols_at(space, 0x7000)->state);
    symbols_free(symbols);
    symbols_free(NULL);
}

/* Another library is loaded at the same addresses: old names remain for what was
   recorded before. */
static void
test_reloaded(void **state)
{
    char path[200];
    void *handle = load("reloaded.so", "cp $SUBJECT $OUT", path);
    struct asked asked = begin_with(path, 0, false);
    uint64_t address = call_in(handle, "subject_plain");
    const struct symbol *symbol = answer(&asked, address);
    struct symbols_module module = module_of(path);

    (void)state;
    check_frame(symbol, 0, "subject_plain", LINE("plain"));
    module.path = "/no/such/file";
    assert_true(symbols_map(asked.space, &module, 1));
    assert_ptr_equal(symbol, answer(&asked, address));
    assert_int_equal(SYMBOL_FILE_GONE, answer(&asked, address + 1)->state);
    symbols_free(asked.symbols);
    dlclose(handle);
}

/* ---- helpers ---- */

static pid_t
helper_pid(void)
{
    unsigned count;
    pid_t pid;

    assert_int_equal(0, procfs_descendants(getpid(), &pid, 1, &count));
    assert_int_equal(1, count);
    return pid;
}

/* One file makes the helper die; names in other files are still found. */
static void
test_helper_dies(void **state)
{
    char one[200], other[200];
    void *first = load("one.so", "cp $SUBJECT $OUT", one);
    void *second = load("other.so", "cp $SUBJECT $OUT", other);
    struct asked asked = begin(one, false);
    struct symbols_module module = module_of(other);
    uint64_t address = call_in(first, "subject_plain");

    (void)state;
    assert_true(symbols_map(asked.space, &module, 1));
    check_frame(answer(&asked, address), 0, "subject_plain", LINE("plain"));
    pid_t helper = helper_pid();
    assert_int_equal(0, kill(helper, SIGSTOP));
    const struct symbol *fatal = symbols_at(asked.space, address - 1);
    const struct symbol *innocent =
        symbols_at(asked.space, call_in(second, "subject_plain"));
    struct symbols_progress progress = symbols_progress(asked.symbols);
    assert_int_equal(3, progress.asked);
    assert_int_equal(1, progress.answered);
    assert_string_equal(one, progress.file);
    assert_int_equal(SYMBOL_ASKED, innocent->state);
    assert_false(symbols_wait(asked.symbols, 1));
    assert_int_equal(0, kill(helper, SIGKILL));
    assert_true(symbols_wait(asked.symbols, -1));
    assert_int_equal(SYMBOL_FAILED, fatal->state);
    assert_int_equal(SYMBOL_FAILED, symbols_at(asked.space, address - 2)->state);
    check_frame(innocent, 0, "subject_plain", LINE("plain"));
    check_frame(symbols_at(asked.space, address), 0, "subject_plain", LINE("plain"));

    /* Whatever the helper does, memtop can end. */
    helper = helper_pid();
    assert_int_equal(0, kill(helper, SIGSTOP));
    symbols_at(asked.space, call_in(second, "subject_plain") + 1);
    symbols_free(asked.symbols);
    assert_int_equal(-1, waitpid(helper, NULL, WNOHANG));
    assert_int_equal(ECHILD, errno);
    dlclose(first);
    dlclose(second);
}

/* ---- servers ---- */

static int
listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char urls[100];

    assert_int_equal(0, bind(listener, (struct sockaddr *)&address, sizeof address));
    assert_int_equal(0, listen(listener, 5));
    assert_int_equal(0, getsockname(listener, (struct sockaddr *)&address, &size));
    snprintf(urls, sizeof urls, "http://127.0.0.1:%d", ntohs(address.sin_port));
    setenv("DEBUGINFOD_URLS", urls, 1);
    setenv("DEBUGINFOD_CACHE_PATH", scratch, 1);
    return listener;
}

static bool
was_called(int listener)
{
    struct pollfd source = {.fd = listener, .events = POLLIN};

    return poll(&source, 1, 0) == 1;
}

static void
test_servers(void **state)
{
    char path[200];
    void *handle = load("unknown.so", "strip -o $OUT $SUBJECT", path);
    uint64_t address = call_in(handle, "subject_plain");
    int listener = listen_somewhere();
    struct asked unasked = begin(path, false), asked = begin(path, true);

    (void)state;
    check_frame(answer(&unasked, address), 0, "subject_plain", NULL);
    assert_false(was_called(listener));
    symbols_free(unasked.symbols);

    void *client = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
#ifdef HAVE_LIBDW
    if (client != NULL) {
        /* The helper waits for an answer that does not come. */
        const struct symbol *symbol = symbols_at(asked.space, address);
        struct pollfd source = {.fd = listener, .events = POLLIN};
        assert_int_equal(1, poll(&source, 1, -1));
        assert_int_equal(SYMBOL_ASKED, symbol->state);
        close(listener);
        assert_true(symbols_wait(asked.symbols, -1));
        check_frame(symbol, 0, "subject_plain", NULL);
        listener = -1;
    }
#endif
    if (client != NULL)
        dlclose(client);
    if (listener >= 0)
        close(listener);
    assert_string_not_equal("", getenv("DEBUGINFOD_URLS")); /* belongs to the program */
    symbols_free(asked.symbols);
    dlclose(handle);
}

/* ---- files that vanish ---- */

/* May this process read what it has mapped, whatever has become of the file? */
static bool
reads_mapped(uint64_t start)
{
    struct dirent *entry;
    DIR *directory = opendir("/proc/self/map_files");
    bool reads = false;

    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (strtoull(entry->d_name, NULL, 16) == start) {
            int file = openat(dirfd(directory), entry->d_name, O_RDONLY);

            reads = file >= 0;
            close(file);
        }
    if (directory != NULL)
        closedir(directory);
    return reads;
}

/* A deleted file is read as long as it is mapped, if the kernel allows that. */
static void
test_mapped_file(void **state)
{
    char path[200];
    void *handle = load("mapped.so", "cp $SUBJECT $OUT", path);
    struct asked asked = begin(path, false);
    struct symbols_module module = module_of(path);
    uint64_t address = call_in(handle, "subject_plain");
    bool readable = reads_mapped(module.start);

    (void)state;
    unlink(path);
    if (readable)
        check_frame(answer(&asked, address), 0, "subject_plain", LINE("plain"));
    else
        assert_int_equal(SYMBOL_FILE_GONE, answer(&asked, address)->state);
    symbols_free(asked.symbols);
    dlclose(handle);
}

/* What is held may be deleted. */
static void
test_held_file(void **state)
{
    char path[200];
    void *handle = load("held.so", "cp $SUBJECT $OUT", path);
    struct asked asked = begin_with(path, 0, false);
    struct symbols_module module = module_of(path);

    (void)state;
    symbols_hold(asked.space, &module);
    assert_true(symbols_wait(asked.symbols, -1));
    unlink(path);
    check_frame(answer(&asked, call_in(handle, "subject_plain")), 0, "subject_plain",
                LINE("plain"));
    symbols_free(asked.symbols);
    dlclose(handle);
}

/* ---- generated code ---- */

static char map_path[64];

static void
write_map(const char *mode, const char *text)
{
    FILE *map = fopen(map_path, mode);

    assert_non_null(map);
    fputs(text, map);
    assert_int_equal(0, fclose(map));
}

static const struct symbol *
generated_at(struct symbols *symbols, struct symbols_space *space, uint64_t address)
{
    symbols_at(space, address);
    assert_true(symbols_wait(symbols, -1));
    return symbols_at(space, address);
}

/* The map is read as the process writes it; a module that comes to lie there counts. */
static void
test_generated(void **state)
{
    struct symbols *symbols = symbols_new(NULL);
    struct symbols_space *space = symbols_space(symbols, getpid());
    const struct symbol *symbol;

    (void)state;
    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
    unlink(map_path);
    assert_false(symbols_refresh(space, 0));
    assert_int_equal(SYMBOL_NO_MODULE, symbols_at(space, 0x1000)->state);
    assert_int_equal(-1, symbols_descriptor(symbols)); /* no helper for nothing */
    write_map("w", "1000 10 first\n");
    assert_false(symbols_refresh(space, INT64_MAX)); /* of an earlier process */
    assert_true(symbols_refresh(space, 0));
    assert_false(symbols_refresh(space, 0));
    symbol = generated_at(symbols, space, 0x1008);
    assert_int_equal(SYMBOL_KNOWN, symbol->state);
    assert_string_equal("first", symbol->frames[0].function);
    assert_null(symbol->module);
    assert_int_equal(0x1008, symbol->offset);
    assert_int_equal(SYMBOL_NO_MODULE, generated_at(symbols, space, 0x2000)->state);
    write_map("a", "2000 10 sec\x1b[mond\n1000 10 other\n");
    assert_true(symbols_refresh(space, 0));
    symbol = generated_at(symbols, space, 0x2000);
    assert_string_equal("sec?[mond", symbol->frames[0].function);
    assert_string_equal("other",
                        generated_at(symbols, space, 0x1000)->frames[0].function);
    const struct symbols_module module = {
        .start = 0x2000, .end = 0x3000, .path = "/none", .inode = 1};
    assert_true(symbols_map(space, &module, 1));
    assert_string_equal("/none", generated_at(symbols, space, 0x2000)->module);
    symbols_free(symbols);
    unlink(map_path);
}

/* Anybody can write into /tmp. */
static void
test_maps_of_others(void **state)
{
    struct symbols *symbols = symbols_new(NULL);
    struct symbols_space *space = symbols_space(symbols, getpid());
    char other[100];

    (void)state;
    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
    snprintf(other, sizeof other, "%s/other.map", scratch);
    unlink(map_path);
    write_map("w", "1000 10 first\n");
    assert_int_equal(0, rename(map_path, other));
    assert_int_equal(0, symlink(other, map_path));
    assert_false(symbols_refresh(space, 0));
    assert_int_equal(0, unlink(map_path));
    assert_int_equal(0, mkfifo(map_path, 0600));
    assert_false(symbols_refresh(space, 0));
    assert_int_equal(0, unlink(map_path));
    assert_int_equal(0, rename(other, map_path));
    if (chown(map_path, 12345, (gid_t)-1) == 0)
        assert_false(symbols_refresh(space, 0));
    assert_int_equal(0, unlink(map_path));
    symbols_free(symbols);
}

static int
make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) != NULL ? 0 : -1;
}

static int
remove_scratch(void **state)
{
    char command[100];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", scratch);
    return system(command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_built),
        cmocka_unit_test(test_stripped),
#ifdef HAVE_LIBDW
        cmocka_unit_test(test_clang),
        cmocka_unit_test(test_separate_file),
#endif
        cmocka_unit_test(test_between_units),
        cmocka_unit_test(test_changed_file),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_reloaded),
        cmocka_unit_test(test_helper_dies),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_mapped_file),
        cmocka_unit_test(test_held_file),
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_maps_of_others),
    };
    return cmocka_run_group_tests_name("symbols", tests, make_scratch, remove_scratch);
}
