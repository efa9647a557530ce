/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of glibc's allocator in all places, of all sizes, and with interruptions.  The
   program prints what it knows of its blocks, and the test compares. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "cases.h"

#define REGION ((size_t)1 << 24) /* the memory that one slab of the shadow covers */

/* ---- what the program knows ---- */

#define SLOTS 600

struct slot {
    char *block;
    size_t size;
};

/* The blocks of one thread, or of threads that take turns. */
struct ledger {
    uint64_t seed;
    unsigned long long mallocs, callocs, aligned, reallocs, frees, stays;
    unsigned long long live, peak, blocks;
    struct slot slots[SLOTS];
};

static struct ledger own = {.seed = 1};

static unsigned
draw(struct ledger *ledger, unsigned below)
{
    ledger->seed = ledger->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(ledger->seed >> 33) % below;
}

static void
live_changes(struct ledger *ledger, size_t comes, size_t goes)
{
    ledger->live += comes - goes;
    if (ledger->live > ledger->peak)
        ledger->peak = ledger->live;
}

/* Notes a new block, and marks it in its first and last byte. */
static void
came(struct ledger *ledger, struct slot *slot, void *block, size_t size)
{
    REQUIRE(block != NULL && malloc_usable_size(block) >= size);
    *slot = (struct slot){block, size};
    if (size > 0)
        slot->block[0] = slot->block[size - 1] = (char)size;
    ledger->blocks++;
    live_changes(ledger, size, 0);
}

static void
get(struct ledger *ledger, struct slot *slot, size_t size)
{
    ledger->mallocs++;
    came(ledger, slot, malloc(size), size);
}

static void
get_zeroed(struct ledger *ledger, struct slot *slot, size_t size)
{
    ledger->callocs++;
    came(ledger, slot, calloc(1, size), size);
}

static void
get_aligned(struct ledger *ledger, struct slot *slot, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);

    REQUIRE((uintptr_t)block % alignment == 0);
    ledger->aligned++;
    came(ledger, slot, block, size);
}

static void
check(const struct slot *slot, size_t size)
{
    REQUIRE(size == 0 || slot->block[0] == (char)size);
}

static void
put(struct ledger *ledger, struct slot *slot)
{
    check(slot, slot->size);
    if (slot->size > 0)
        REQUIRE(slot->block[slot->size - 1] == (char)slot->size);
    live_changes(ledger, 0, slot->size);
    ledger->frees++;
    ledger->blocks--;
    free(slot->block);
    slot->block = NULL;
}

/* size must not be 0. */
static void
resize(struct ledger *ledger, struct slot *slot, size_t size)
{
    size_t before = slot->size;
    char *moved = realloc(slot->block, size);

    REQUIRE(moved != NULL);
    ledger->reallocs++;
    ledger->stays += moved == slot->block;
    *slot = (struct slot){moved, size};
    check(slot, before);
    moved[0] = moved[size - 1] = (char)size;
    live_changes(ledger, size, before);
}

static void
put_all(struct ledger *ledger)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (ledger->slots[i].block != NULL)
            put(ledger, &ledger->slots[i]);
}

static void
tell_all(const struct ledger *ledger)
{
    tell("mallocs", ledger->mallocs);
    tell("callocs", ledger->callocs);
    tell("aligned", ledger->aligned);
    tell("reallocs", ledger->reallocs);
    tell("frees", ledger->frees);
    tell("stays", ledger->stays);
    tell("live", ledger->live);
    tell("peak", ledger->peak);
    tell("blocks", ledger->blocks);
}

static size_t
draw_size(struct ledger *ledger)
{
    unsigned kind = draw(ledger, 20);

    if (kind == 0)
        return 65530 + draw(ledger, 12);
    return draw(ledger, kind < 12 ? 300 : kind < 19 ? 9000 : 250000);
}

static void
step(struct ledger *ledger)
{
    struct slot *slot = &ledger->slots[draw(ledger, SLOTS)];
    unsigned kind = draw(ledger, 10);
    size_t size = draw_size(ledger);

    if (slot->block != NULL && kind < 4)
        resize(ledger, slot, size + 1);
    else if (slot->block != NULL)
        put(ledger, slot);
    else if (kind < 6)
        get(ledger, slot, size);
    else if (kind < 8)
        get_zeroed(ledger, slot, size);
    else
        get_aligned(ledger, slot, (size_t)16 << draw(ledger, 9), size);
}

static void
walk(struct ledger *ledger, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        step(ledger);
}

/* ---- sizes and places ---- */

/* The second argument is the size from which blocks get mappings of their own. */
static void
thresholds(void)
{
    REQUIRE(mallopt(M_MMAP_THRESHOLD, atoi(case_argv[2])) == 1);
    REQUIRE(mallopt(M_MMAP_MAX, 30000) == 1);
    walk(&own, 30000);
    tell_all(&own);
}

static void
edge_sizes(void)
{
    static const size_t sizes[] = {0,     1,     24,    25,    1032,  1033,
                                   4095,  4096,  65471, 65472, 65535, 65536,
                                   65537, 70000, 131071};
    const unsigned count = sizeof sizes / sizeof sizes[0];

    for (unsigned i = 0; i < count; i++) {
        get(&own, &own.slots[3 * i], sizes[i]);
        get_zeroed(&own, &own.slots[3 * i + 1], sizes[i]);
        get_aligned(&own, &own.slots[3 * i + 2], 64, sizes[i]);
    }
    for (unsigned i = 0; i < 3 * count; i += 2)
        put(&own, &own.slots[i]);
    tell_all(&own);
}

/* Resizes blocks within the heap, and from the heap to mappings and back. */
static void
to_and_fro(void)
{
    static const size_t sizes[] = {100,    5000, 50,    65536, 24,
                                   300000, 200,  65535, 70000, 1};

    REQUIRE(mallopt(M_MMAP_THRESHOLD, 4000) == 1);
    for (unsigned i = 0; i < 200; i++) {
        struct slot *slot = &own.slots[i % 20];
        size_t size = sizes[i % 10 + (i / 10 % 2 ? 0 : (9 - 2 * (i % 10)))];

        if (slot->block == NULL)
            get(&own, slot, size);
        else
            resize(&own, slot, size);
    }
    tell_all(&own);
}

static void
alignments(void)
{
    for (size_t alignment = 8; alignment <= 1 << 20; alignment *= 2)
        for (unsigned i = 0; i < 40; i++) {
            struct slot *slot = &own.slots[draw(&own, SLOTS)];

            if (slot->block != NULL)
                put(&own, slot);
            get_aligned(&own, slot, alignment, draw_size(&own));
        }
    walk(&own, 2000);
    tell_all(&own);
}

static void
own_sbrk(void)
{
    for (unsigned i = 0; i < 3000; i++) {
        REQUIRE(sbrk((intptr_t)draw(&own, 3000) * 8) != (void *)-1);
        walk(&own, 5);
    }
    tell_all(&own);
}

/* The heap shrinks, and grows again over the same addresses with other blocks. */
static void
trims(void)
{
    REQUIRE(mallopt(M_TRIM_THRESHOLD, 0) == 1 && mallopt(M_TOP_PAD, 0) == 1);
    REQUIRE(mallopt(M_MMAP_MAX, 0) == 1);
    for (unsigned round = 0; round < 60; round++) {
        walk(&own, 700);
        if (round % 3 == 0)
            put_all(&own);
        malloc_trim(draw(&own, 2) * 4096);
    }
    tell_all(&own);
}

/* Blocks that start at the end of a region, where the entries for their sizes would lie
   in the next region. */
static void
region_ends(void)
{
    struct slot *slot = own.slots;

    REQUIRE(mallopt(M_MMAP_MAX, 0) == 1);
    for (size_t before = 16; before <= 512; before += 16) {
        size_t place, fill;

        get(&own, slot, 100000);
        place = (uintptr_t)slot->block + malloc_usable_size(slot->block) + 8;
        fill = (2 * REGION - before - place % REGION) % REGION;
        if (fill < 3 * 16)
            fill += REGION;
        get(&own, slot + 1, fill - 8);
        get(&own, slot + 2, 65528 + before * 8);
        REQUIRE((uintptr_t)(slot + 2)->block % REGION == REGION - before);
        if (before % 32 == 0)
            resize(&own, slot + 2, 65600 + before);
        slot += 3;
    }
    for (slot = own.slots; slot->block != NULL; slot += 2)
        put(&own, slot);
    tell_all(&own);
}

/* Blocks that libc allocates without the library, where counted blocks were before. */
extern void *__libc_malloc(size_t size);

static void
past_us(void)
{
    unsigned long long same = 0, foreign = 0;

    REQUIRE(mallopt(M_MMAP_THRESHOLD, 200000) == 1);
    for (size_t size = 10; size < 500000; size += size / 7 + 3) {
        char *block;

        get(&own, own.slots, size);
        block = own.slots[0].block;
        if (foreign % 3 == 0) {
            resize(&own, own.slots, size / 2 + 1);
            resize(&own, own.slots, size);
            block = own.slots[0].block;
        }
        put(&own, own.slots);
        own.slots[1].block = __libc_malloc(size);
        same += own.slots[1].block == block;
        free(own.slots[1].block);
        foreign++;
    }
    own.slots[1].block = NULL;
    tell("same", same);
    tell("foreign", foreign);
    tell_all(&own);
}

/* ---- threads ---- */

#define THREADS 8u
#define ROUNDS  20u
static pthread_barrier_t barrier;
static struct ledger ledgers[THREADS];

static void
in_threads(void *(*body)(void *), unsigned count)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < count; i++)
        REQUIRE(pthread_create(&threads[i], NULL, body, (void *)i) == 0);
    for (unsigned i = 0; i < count; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
}

static void
add_up(struct ledger *sum)
{
    for (unsigned i = 0; i < THREADS; i++) {
        sum->mallocs += ledgers[i].mallocs;
        sum->callocs += ledgers[i].callocs;
        sum->aligned += ledgers[i].aligned;
        sum->reallocs += ledgers[i].reallocs;
        sum->frees += ledgers[i].frees;
        sum->stays += ledgers[i].stays;
        sum->live += ledgers[i].live;
        sum->blocks += ledgers[i].blocks;
    }
}

/* In each round all threads enter new regions at the same moment. */
static void *
enter(void *argument)
{
    struct ledger *ledger = &ledgers[(uintptr_t)argument];

    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        for (unsigned i = 0; i < 16; i++)
            get(ledger, &ledger->slots[round * 16 + i], 150000 + i);
        for (unsigned i = 0; i < 16; i += 3)
            put(ledger, &ledger->slots[round * 16 + i]);
    }
    return NULL;
}

static void
race(void)
{
    REQUIRE(mallopt(M_MMAP_THRESHOLD, 4000) == 1);
    REQUIRE(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    in_threads(enter, THREADS);
    add_up(&own);
    tell_all(&own);
}

/* Fills more than the first heap of an arena, so that the arena gets more heaps and
   loses them again. */
static void *
fill_arena(void *argument)
{
    struct ledger *ledger = &ledgers[(uintptr_t)argument];

    ledger->seed += (uintptr_t)argument;
    for (unsigned i = 0; i < SLOTS; i++)
        get(ledger, &ledger->slots[i], 120000 + draw(ledger, 8000));
    put_all(ledger);
    walk(ledger, 1000);
    put_all(ledger);
    return NULL;
}

static void
arenas(void)
{
    for (unsigned round = 0; round < 5; round++)
        in_threads(fill_arena, 4);
    walk(&own, 5000);
    add_up(&own);
    tell_all(&own);
}

/* ---- regions that share a place in the table ---- */

#define AWAY ((size_t)2048 * REGION) /* regions at this distance have the same home */

/* Occupies the addresses below the last mapping, so that the next blocks lie in regions
   that have the same homes as earlier ones. */
static void
leave_space(void)
{
    REQUIRE(mmap(NULL, AWAY - 4 * REGION, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
}

static unsigned
home(const char *block)
{
    return (unsigned)((uintptr_t)block / REGION % 2048);
}

/* Fills regions with blocks at 20 places that are far apart. */
static void
far_apart(void)
{
    unsigned shared = 0;

    REQUIRE(mallopt(M_MMAP_THRESHOLD, 4000) == 1 && mallopt(M_MMAP_MAX, 30000) == 1);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (i > 0 && i % 30 == 0)
            leave_space();
        get(&own, &own.slots[i], i % 2 ? 5000 + i : 4000000);
    }
    for (unsigned i = 0; i < SLOTS; i++)
        for (unsigned j = 0; j < i; j++)
            if (home(own.slots[i].block) == home(own.slots[j].block)
                && (uintptr_t)own.slots[j].block - (uintptr_t)own.slots[i].block
                       > REGION) {
                shared++;
                break;
            }
    for (unsigned i = 0; i < SLOTS; i += 3)
        put(&own, &own.slots[i]);
    walk(&own, 5000);
    tell("shared", shared);
    tell_all(&own);
}

/* ---- no more memory, no more calls ---- */

static size_t
space_taken(void)
{
    unsigned long pages;
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY);

    REQUIRE(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    pages = strtoul(text, NULL, 10);
    return pages * 4096;
}

/* There is memory for a block in a new region, but not for a slab. */
static void
no_slab(void)
{
    struct rlimit before, limit;
    struct slot foreign[3] = {0};

    get(&own, &own.slots[0], 100);
    REQUIRE(mallopt(M_MMAP_THRESHOLD, 4000) == 1);
    REQUIRE(mmap(NULL, 4 * REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            != MAP_FAILED);
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    limit = before;
    limit.rlim_cur = space_taken() + 420000;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    errno = 77;
    foreign[0].block = malloc(200000);
    REQUIRE(foreign[0].block != NULL && errno == 77);
    foreign[1].block = calloc(1, 200000);
    REQUIRE(foreign[1].block != NULL && errno == 77);
    REQUIRE(malloc(300000) == NULL && errno == ENOMEM);
    errno = 77;
    free(foreign[1].block);
    REQUIRE(errno == 77);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    foreign[0].block = realloc(foreign[0].block, 250000);
    REQUIRE(foreign[0].block != NULL);
    free(foreign[0].block);
    get(&own, &own.slots[1], 200);
    tell_all(&own);
}

static void
allow_only(const int *calls, unsigned count)
{
    struct sock_filter filter[16];
    struct sock_fprog program = {.filter = filter};
    unsigned length = 0;

    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                    offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                        (uint32_t)calls[i], 0, 1);
        filter[length++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
    program.len = (unsigned short)length;
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* Enters 30 regions of the heap when no slab can be mapped.  The blocks in the first 16
   are known, those in the others are not. */
static void
shut_in(void)
{
    static const int calls[] = {SYS_brk, SYS_write, SYS_exit_group};
    static char *later[15 * 256];
    unsigned count = 0;
    size_t first_region;

    REQUIRE(mallopt(M_MMAP_MAX, 0) == 1);
    get(&own, &own.slots[0], 100);
    first_region = (uintptr_t)own.slots[0].block / REGION;
    allow_only(calls, 3);
    for (struct slot *slot = &own.slots[1]; slot < &own.slots[SLOTS]; slot++)
        get(&own, slot, 20);
    walk(&own, 3000);
    tell("before", own.blocks);
    while (count < 15 * 256) {
        char *block = malloc(130000);

        REQUIRE(block != NULL);
        own.mallocs++;
        if ((uintptr_t)block / REGION - first_region > 16) {
            own.mallocs--;
            later[count++] = block;
        } else {
            own.blocks++;
            live_changes(&own, 130000, 0);
        }
    }
    put_all(&own);
    for (unsigned i = 0; i < count; i++)
        free(later[i]);
    tell("foreign", count);
    tell_all(&own);
}

/* ---- children ---- */

static void
forks(void)
{
    int status;
    pid_t child;

    walk(&own, 5000);
    child = fork();
    REQUIRE(child >= 0);
    own.seed += child == 0;
    own.mallocs = own.callocs = own.aligned = own.reallocs = own.frees = own.stays = 0;
    own.peak = own.live;
    if (child == 0) {
        tell("child", (unsigned long long)getpid());
        for (unsigned i = 0; i < SLOTS; i += 2)
            if (own.slots[i].block != NULL)
                put(&own, &own.slots[i]);
        walk(&own, 10000);
        tell("child_live", own.live);
        tell("child_peak", own.peak);
        tell("child_blocks", own.blocks);
        tell("child_mallocs", own.mallocs);
        tell("child_frees", own.frees);
        _exit(0);
    }
    walk(&own, 10000);
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    tell("live", own.live);
    tell("blocks", own.blocks);
    put_all(&own);
    walk(&own, 10000);
    tell("last_live", own.live);
    tell("last_blocks", own.blocks);
}

/* What a child of vfork() allocates belongs to its parent. */
static void
vforks(void)
{
    for (unsigned round = 0; round < 50; round++) {
        int status;
        pid_t child = vfork();

        REQUIRE(child >= 0);
        if (child == 0) {
            walk(&own, 100);
            _exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        walk(&own, 100);
    }
    tell_all(&own);
}

/* ---- memory that the system has promised ---- */

/* Is the word among the flags of a mapping, as " ac nr " in a line of /proc/self/smaps?
 */
static bool
has_flag(const char *line, const char *flag)
{
    return strncmp(line, "VmFlags:", 8) == 0 && strstr(line, flag) != NULL;
}

/* With a heap of 64 MiB: KiB of mappings that count against vm.overcommit_memory, and of
   those that ask not to. */
static void
promised(void)
{
    unsigned long size = 0, accounted = 0, unreserved = 0;
    char line[512];
    FILE *maps;

    for (unsigned i = 0; i < 64 * 4096; i++)
        REQUIRE(malloc(240) != NULL);
    maps = fopen("/proc/self/smaps", "r");
    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        sscanf(line, "Size: %lu kB", &size);
        accounted += has_flag(line, " ac ") ? size : 0;
        unreserved += has_flag(line, " nr ") ? size : 0;
    }
    fclose(maps);
    tell("accounted", accounted);
    tell("unreserved", unreserved);
}

/* ---- mistakes ---- */

/* glibc ends the program; the counts must still make sense. */
static void
damaged(void)
{
    struct rlimit none = {0, 0};

    REQUIRE(setrlimit(RLIMIT_CORE, &none) == 0);
    for (unsigned i = 0; i < 100; i++)
        get(&own, &own.slots[i], 40);
    tell_all(&own);
    memset(own.slots[50].block + 40, 0x41, 6);
    free(own.slots[51].block);
    REQUIRE(!"glibc has noticed");
}

/* ---- handlers at every instruction ---- */

#if defined __x86_64__
#define TRAP_FLAG 0x100

static uintptr_t ours_start, ours_end;
static volatile unsigned long long handled, kept;
static bool leaves;
static sigjmp_buf escape;
static char *held[64];

/* Of the instructions from one jump to the next: some calls have more of them than that,
   so the jumps are limited. */
#define LEAVE_WITHIN  600
#define LEAVE_AT_MOST 500
static unsigned leave_in;

static void
find_ours(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    static char buffer[8192];

    REQUIRE(maps != NULL);
    setvbuf(maps, buffer, _IOFBF, sizeof buffer);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end;

        if (strstr(line, "/libmemtop.so") == NULL || strstr(line, " r-xp ") == NULL)
            continue;
        REQUIRE(sscanf(line, "%lx-%lx", &start, &end) == 2);
        ours_start = start;
        ours_end = end;
    }
    fclose(maps);
    REQUIRE(ours_start != 0);
}

/* A handler must not enter glibc's allocator when it has interrupted it.  So it
   allocates only if it has interrupted the library's own code.  It keeps some of the
   blocks. */
static void
allocate_meanwhile(void)
{
    unsigned place = (unsigned)(handled % 64);

    free(malloc(40));
    if (handled % 5 == 0) {
        free(held[place]);
        held[place] = malloc(100 + place);
        kept++;
    }
    handled++;
}

static void
on_interrupt(int number, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
    int saved = errno;

    (void)number;
    (void)info;
    if (at < ours_start || at >= ours_end)
        return;
    allocate_meanwhile();
    errno = saved;
    if (leaves && leave_in-- == 0)
        siglongjmp(escape, 1);
}

static void
handle(int number)
{
    struct sigaction action = {.sa_sigaction = on_interrupt,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    REQUIRE(sigaction(number, &action, NULL) == 0);
}

static void
set_trap(bool on)
{
    if (on)
        __asm__ volatile("pushfq; orl %0, (%%rsp); popfq"
                         :
                         : "i"(TRAP_FLAG)
                         : "cc", "memory");
    else
        __asm__ volatile("pushfq; andl %0, (%%rsp); popfq"
                         :
                         : "i"(~TRAP_FLAG)
                         : "cc", "memory");
}

static void
tell_handled(void)
{
    unsigned stay = 0;

    for (unsigned i = 0; i < 64; i++)
        if (held[i] != NULL) {
            live_changes(&own, 100 + i, 0);
            own.blocks++;
            stay++;
        }
    tell("handled", handled);
    tell("kept", kept);
    own.mallocs += handled + kept;
    own.frees += handled + kept - stay; /* the first free of each place was of NULL */
    tell_all(&own);
}

/* Interrupts each call after each of its instructions. */
static void
stop_everywhere(void)
{
    find_ours();
    handle(SIGTRAP);
    REQUIRE(mallopt(M_MMAP_THRESHOLD, 150000) == 1);
    for (unsigned i = 0; i < 200; i++) {
        set_trap(true);
        step(&own);
        set_trap(false);
    }
    tell_handled();
}

static void
every_instruction(void)
{
    stop_everywhere();
}

/* The handlers run further up the stack than the calls that they interrupt. */
static void
handlers_above(void)
{
    char above[65536];
    stack_t stack = {.ss_sp = above, .ss_size = sizeof above};

    REQUIRE(sigaltstack(&stack, NULL) == 0);
    stop_everywhere();
}

static void
every_50_us(void)
{
    struct itimerval timer = {{0, 50}, {0, 50}}, none = {{0, 0}, {0, 0}};

    find_ours();
    handle(SIGALRM);
    REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    for (unsigned i = 0; i < 10000000 && handled < 2000; i++) {
        struct slot *slot = &own.slots[i % 50];

        if (slot->block != NULL)
            put(&own, slot);
        get(&own, slot, draw(&own, 1000));
        if (i % 100 == 0)
            step(&own);
    }
    REQUIRE(setitimer(ITIMER_REAL, &none, NULL) == 0);
    tell_handled();
}

/* Calls that siglongjmp() cuts off may be lost; everything else goes on. */
static void
handlers_leave(void)
{
    static volatile unsigned long long pairs, escapes;

    find_ours();
    if (sigsetjmp(escape, 1) != 0)
        escapes++;
    leaves = escapes < LEAVE_AT_MOST;
    leave_in = draw(&own, LEAVE_WITHIN);
    handle(SIGTRAP);
    while (pairs < 500 || leaves) {
        set_trap(true);
        free(malloc(60));
        pairs++;
        free(realloc(NULL, 60)); /* always an update */
        set_trap(false);
    }
    leaves = false;
    signal(SIGTRAP, SIG_IGN);
    tell("pairs", pairs);
    tell("escapes", escapes);
    tell("handled", handled);
    tell("kept", kept);
    for (unsigned i = 0; i < 1000; i++)
        free(malloc(77));
}

/* ---- threads that end after a jump ---- */

#define LEAVERS 100

static __thread unsigned steps_left;
static __thread sigjmp_buf thread_escape;
static pthread_barrier_t leavers_ready;

static void
on_step(int number, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];

    (void)number;
    (void)info;
    if (at >= ours_start && at < ours_end && steps_left-- == 0)
        siglongjmp(thread_escape, 1);
}

/* Each is cut off at another instruction, and none calls again. */
static void *
leave_and_end(void *argument)
{
    void *volatile block = malloc(50);

    pthread_barrier_wait(&leavers_ready); /* all have shards */
    steps_left = 3 * (unsigned)(uintptr_t)argument;
    if (sigsetjmp(thread_escape, 1) == 0) {
        set_trap(true);
        block = malloc(60);
        set_trap(false);
    }
    return block;
}

static void
leavers_end(void)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    pthread_t threads[LEAVERS];

    find_ours();
    REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
    REQUIRE(pthread_barrier_init(&leavers_ready, NULL, LEAVERS) == 0);
    for (uintptr_t i = 0; i < LEAVERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, leave_and_end, (void *)i) == 0);
    for (unsigned i = 0; i < LEAVERS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
}
#else
static void
every_instruction(void)
{
    _exit(77);
}
#define every_50_us    every_instruction
#define handlers_above every_instruction
#define handlers_leave every_instruction
#define leavers_end    every_instruction
#endif

CASES
CASE(thresholds)
CASE(edge_sizes) CASE(to_and_fro) CASE(alignments) CASE(own_sbrk) CASE(trims)
    CASE(region_ends) CASE(past_us) CASE(race) CASE(arenas) CASE(far_apart) CASE(no_slab)
        CASE(shut_in) CASE(forks) CASE(vforks) CASE(promised) CASE(damaged)
            CASE(every_instruction)
            CASE(handlers_above) CASE(every_50_us) CASE(handlers_leave)
                CASE(leavers_end) END_CASES
