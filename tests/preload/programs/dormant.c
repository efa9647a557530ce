/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dormant program that takes the place of its viewer: it wakes itself and puts itself
   to sleep at known places, so that the counts are known. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <memtop/memprof.h>

#include "segment/layout.h"

#include "cases.h"

#define LEASE_NS UINT64_C(100000000000)

static struct segment_control *control;
static volatile struct segment_process *process;

/* Maps this process's own segment. */
static void
look_at_own_segment(void)
{
    char path[512];
    unsigned char *base;
    int fd;

    snprintf(path, sizeof path, "%s/%d.0", getenv("MEMTOP_DIR"), (int)getpid());
    fd = open(path, O_RDWR);
    REQUIRE(fd >= 0);
    base = mmap(NULL, SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REQUIRE(base != MAP_FAILED);
    close(fd);
    control = (void *)(base + CONTROL_OFFSET);
    process = (void *)(base + PROCESS_OFFSET);
}

static uint64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* does not read the TSC */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
lease(void)
{
    __atomic_store_n(&control->awake_until_ns, now_ns() + LEASE_NS, __ATOMIC_RELEASE);
}

static void
wake_up(void)
{
    uint32_t before = process->wakes;

    lease();
    free(malloc(1)); /* the first call wakes it */
    REQUIRE(process->wakes == before + 1 && process->asleep_since_ns == 0);
}

/* Ends the lease.  A program notices that when it calls the library. */
static void
fall_asleep(void)
{
    __atomic_store_n(&control->awake_until_ns, now_ns(), __ATOMIC_RELEASE);
    for (int i = 0; i < 100000000 && process->asleep_since_ns == 0; i++)
        free(malloc(1));
    REQUIRE(process->asleep_since_ns != 0);
}

static void
never_woken(void)
{
    void *kept = malloc(1000);

    free(malloc(10));
    REQUIRE(malloc_usable_size(kept) >= 1000);
    kept = realloc(kept, 5000);
    free(calloc(10, 10));
    free(NULL);
    REQUIRE(kept != NULL);
}

/* The first awake period; kept is allocated before it. */
static void *kept, *second, *third;

static void
first_stretch(void)
{
    look_at_own_segment();
    kept = malloc(1000);
    wake_up();
    free(kept); /* its allocation was not counted */
    second = malloc(108);
    third = malloc(200);
    REQUIRE(malloc_usable_size(second) >= 108);
}

static void
woken(void)
{
    first_stretch();
}

/* While asleep, the program allocates a block where one of the first awake period was,
   and the block has that one's trailer.  It must not count as a block of the second
   awake period. */
static void
twice(void)
{
    void *again;

    first_stretch();
    fall_asleep();
    again = second;
    free(second);
    second = malloc(malloc_usable_size(third) >= 200 ? 116 : 0);
    REQUIRE(second == again);
    REQUIRE(malloc_usable_size(second) >= 116);
    wake_up();
    REQUIRE(malloc_usable_size(second) >= 116);
    free(second);
    free(third);
    kept = malloc(50);
    REQUIRE(realloc(kept, 80) != NULL);
}

/* Blocks that are allocated while the program is awake have room for a trailer.  The
   others have none, and the library must not write to them: the contents of the
   program's blocks never change. */
#define BLOCKS 4096
static unsigned char *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static void
check_block(unsigned i)
{
    for (size_t at = 0; at < sizes[i]; at++)
        REQUIRE(blocks[i][at] == (unsigned char)i);
}

static void
churn_block(unsigned i, uint32_t random)
{
    size_t size = random % 300;

    if (blocks[i] != NULL)
        check_block(i);
    switch (random >> 28) {
    case 0:
    case 1:
    case 2:
        free(blocks[i]);
        blocks[i] = calloc(1, size);
        for (size_t at = 0; at < size; at++)
            REQUIRE(blocks[i][at] == 0);
        break;
    case 3:
    case 4:
    case 5:
        blocks[i] = realloc(blocks[i], size + 1);
        size++;
        break;
    case 6:
        free(blocks[i]);
        blocks[i] = memalign(64, size);
        break;
    default:
        free(blocks[i]);
        blocks[i] = malloc(size);
    }
    size = malloc_usable_size(blocks[i]);
    sizes[i] = size;
    memset(blocks[i], (int)i, size);
}

static atomic_bool done;

static void *
toggle(void *argument)
{
    (void)argument;
    while (!atomic_load(&done)) {
        const struct timespec pause = {0, 3000000};
        lease();
        nanosleep(&pause, NULL);
        __atomic_store_n(&control->awake_until_ns, 1, __ATOMIC_RELEASE);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void *
churn(void *argument)
{
    unsigned first = (unsigned)(uintptr_t)argument;
    uint32_t random = first + 1;

    for (int i = 0; i < 300000; i++) {
        random = random * 1664525 + 1013904223;
        churn_block(first + (random >> 8) % (BLOCKS / 4), random);
    }
    return NULL;
}

static void
toggled(void)
{
    pthread_t threads[4], viewer;

    look_at_own_segment();
    REQUIRE(pthread_create(&viewer, NULL, toggle, NULL) == 0);
    for (uintptr_t i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, churn, (void *)(i * (BLOCKS / 4)))
                == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&done, true);
    pthread_join(viewer, NULL);
    tell("wakes", process->wakes);
    fall_asleep();
    wake_up();
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (blocks[i] != NULL)
            check_block(i);
        free(blocks[i]);
    }
    kept = malloc(123);
}

static void
child(bool awake)
{
    int status;

    look_at_own_segment();
    wake_up();
    kept = malloc(1000);
    second = malloc(500);
    if (!awake)
        fall_asleep();
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        free(second);
        third = malloc(70);
        _exit(0);
    }
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
}

static void
child_awake(void)
{
    child(true);
}

static void
child_asleep(void)
{
    child(false);
}

/* Only read, write and exit are allowed, and reading the TSC is forbidden.  Waking and
   falling asleep need no other call. */
static void
sandboxed(void)
{
    look_at_own_segment();
    free(malloc(10000)); /* the heap exists from here on */
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    wake_up();
    kept = malloc(100);
    fall_asleep();
    second = malloc(100);
    wake_up();
    third = malloc(100);
    syscall(SYS_exit, 0);
}

/* A lease that has ended before the program sees it does not wake the program. */
static void
too_late(void)
{
    look_at_own_segment();
    __atomic_store_n(&control->awake_until_ns, 12345, __ATOMIC_RELEASE);
    for (int i = 0; i < 1000; i++)
        free(malloc(1));
    REQUIRE(process->wakes == 0);
}

/* ---- the program's own profiles and pools ---- */

static unsigned long sampled;

static void *
count_sampled(const struct memprof_allocation *block, void *ctx)
{
    (void)ctx;
    sampled += block->size == 123;
    return NULL;
}

/* While the program has a profile, it does not fall asleep, even when the lease is
   over. */
static void
profiled(void)
{
    static const struct memprof_tracker tracker = {count_sampled, NULL, NULL};
    unsigned long made = 0;
    memprof_t *profile;

    look_at_own_segment();
    wake_up();
    profile = memprof_start(1, 0, &tracker, NULL);
    REQUIRE(profile != NULL);
    __atomic_store_n(&control->awake_until_ns, now_ns(), __ATOMIC_RELEASE);
    for (uint64_t until = now_ns() + 50000000; now_ns() < until || made < 10000; made++)
        free(malloc(123));
    REQUIRE(sampled == made);
    REQUIRE(process->asleep_since_ns == 0);
    REQUIRE(memprof_stop() == 0 && memprof_discard(profile) == 0);
    fall_asleep();
    errno = 0;
    REQUIRE(memprof_start(1, 0, &tracker, NULL) == NULL && errno == EAGAIN);
}

/* Blocks that a pool handed out before an awake period do not count in it. */
static void
pools(void)
{
    static char pool[16];

    look_at_own_segment();
    memprof_custom_alloc(pool, 10); /* while asleep */
    wake_up();
    memprof_custom_alloc(pool + 1, 20);
    memprof_custom_free(pool);
    fall_asleep();
    memprof_custom_alloc(pool + 2, 30);
    wake_up();
    memprof_custom_alloc(pool + 3, 40);
    memprof_custom_free(pool + 1);
    memprof_custom_free(pool + 2);
    memprof_custom_alloc(pool + 1, 50);
}

CASES
    CASE(never_woken)
    CASE(woken)
    CASE(twice)
    CASE(toggled)
    CASE(child_awake)
    CASE(child_asleep)
    CASE(sandboxed)
    CASE(too_late)
    CASE(profiled)
    CASE(pools)
END_CASES
