/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that does nothing but allocate, to measure what watching adds.
 *
 *   load PHASE THREADS ms MILLISECONDS   prints "BEST MEDIAN MEAN"; status 3 if the
 *                                        threads had to take turns
 *   load PHASE THREADS ops COUNT         prints nothing
 *
 * pairs         a malloc and a free of 64 bytes
 * mixed         the same of 1 to 512 bytes
 * calloc, cxx   the same by calloc and free, and by new and delete (in load-cxx)
 * realloc       a buffer grows by 64 bytes, to 16 KiB, and begins again
 * churn1024     among 1024 live blocks of 16 to 480 bytes one is freed and a new one
 *               allocated; churn100k among 100,000, churn2m among 2,000,000
 * growth        a malloc of 1 to 512 bytes without a free, in a heap whose pages have
 *               been used before; growth-cold in one that gets its pages meanwhile
 * grow-free     growth, and all blocks freed in their order: a malloc and a free a step
 * handover      a malloc of 1 to 512 bytes whose block another thread frees
 *
 * BEST, MEDIAN and MEAN are nanoseconds a step and thread, over short batches: other
 * programs on the machine then disturb some batches, but not the figure.  With several
 * threads they are the mean of the threads' figures.  Two runs with different COUNTs
 * differ only in these steps, so an instruction counter can subtract them.
 *
 * With LOAD_EMPTIES_RINGS in the environment calls are written to rings in a segment
 * in MEMTOP_DIR.  The rings are emptied before each batch, and a batch fits into them, so
 * this measures what a call costs while there is room.
 */
#include "config.h"

#include "load.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "segment/layout.h"

#define BATCH_STEPS 20000u /* some hundred microseconds: few are interrupted */
#define RING_STEPS 4000u   /* fit the smallest ring that memtop uses */
#define MIN_BATCHES 10u    /* even when time is over: one may be disturbed */
#define MAX_BATCHES 4096u
#define MAX_THREADS 64

static const struct phase *phase;
static uint64_t steps_asked;
static int64_t ns_asked;
static uint64_t batch_steps;
static pthread_barrier_t start_line;

static int64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static struct segment_control *control; /* NULL if there are no rings */
static const struct ring *rings;

static void
find_rings(void)
{
    const char *directory = getenv("MEMTOP_DIR");
    unsigned char *base;
    char path[512];
    int fd = -1;

    if (getenv("LOAD_EMPTIES_RINGS") == NULL || directory == NULL)
        return;
    /* The last segment; those before it belong to programs that started this one by
       exec. */
    for (int generation = 9; fd < 0 && generation >= 0; generation--) {
        snprintf(path, sizeof path, "%s/%d.%d", directory, (int)getpid(), generation);
        fd = open(path, O_RDWR);
    }
    base = mmap(NULL, EVENTS_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (base == MAP_FAILED)
        exit(1);
    control = (void *)(base + CONTROL_OFFSET);
    rings = (const void *)(base + RINGS_OFFSET);
    batch_steps = RING_STEPS;
}

/* Memory that does not come from malloc, with its pages present. */
static void *
table(size_t count, size_t size)
{
    void *mapped = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (mapped == MAP_FAILED)
        exit(1);
    return mapped;
}

/* Empties the rings as memtop would. */
static void
empty_rings(void)
{
    for (unsigned i = 0; control != NULL && i <= MAX_THREADS; i++)
        __atomic_store_n(&control->ring_tail[i],
                         __atomic_load_n(&rings[i].head, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
}

static void
run_steps_asked(struct worker *worker)
{
    uint64_t steps;

    for (uint64_t left = steps_asked; left > 0; left -= steps) {
        steps = left < batch_steps ? left : batch_steps;
        empty_rings();
        phase->run(worker, steps);
    }
}

static bool
is_full(const struct worker *worker)
{
    return phase->until_full && worker->count == worker->room;
}

static void
run_for_time(struct worker *worker)
{
    int64_t end = now_ns() + ns_asked;
    int64_t before, after;

    do {
        empty_rings();
        before = now_ns();
        phase->run(worker, batch_steps);
        after = now_ns();
        if (phase->after != NULL)
            phase->after(worker);
        worker->batches[worker->batch_count++] =
            (double)(after - before) / (double)batch_steps;
    } while ((after < end || worker->batch_count < MIN_BATCHES) && !is_full(worker)
             && worker->batch_count < MAX_BATCHES);
}

void
take_processor(unsigned index)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(index % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Brings the heap into the state that is to be measured, and fills the caches. */
static void
warm_up(struct worker *worker)
{
    if (phase->prepare != NULL)
        phase->prepare(worker);
    if (phase->until_full)
        return;
    phase->run(worker, phase->warm_steps != 0 ? phase->warm_steps : batch_steps);
    if (phase->after != NULL)
        phase->after(worker);
}

static void *
work(void *argument)
{
    struct worker *worker = argument;

    take_processor(worker->index);
    warm_up(worker);
    pthread_barrier_wait(&start_line);
    if (ns_asked != 0)
        run_for_time(worker);
    else
        run_steps_asked(worker);
    return NULL;
}

/* Returns whether the threads ran at the same time.  If not, they did not contend, and
   the cost of contention was not measured.  For handover this cannot be told: its
   threads sleep while they wait for the lock of their arena. */
static bool
ran_together(int64_t wall_ns, unsigned threads)
{
    struct timespec cpu;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return threads == 1
           || (double)(cpu.tv_sec * INT64_C(1000000000) + cpu.tv_nsec)
                  > 0.9 * (double)wall_ns * threads;
}

static int
compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

static void
print_figures(struct worker *workers, unsigned threads)
{
    double best = 0, median = 0, mean = 0;

    for (unsigned i = 0; i < threads; i++) {
        struct worker *worker = &workers[i];
        qsort(worker->batches, worker->batch_count, sizeof *worker->batches, compare);
        best += worker->batches[0] / threads;
        median += worker->batches[worker->batch_count / 2] / threads;
        for (unsigned k = 0; k < worker->batch_count; k++)
            mean += worker->batches[k] / worker->batch_count / threads;
    }
    printf("%.3f %.3f %.3f\n", best, median, mean);
}

static bool
parse(int argc, char **argv, unsigned *threads)
{
    if (argc != 5 || (phase = phase_of(argv[1])) == NULL)
        return false;
    batch_steps = phase->batch_steps != 0 ? phase->batch_steps : BATCH_STEPS;
    *threads = (unsigned)atoi(argv[2]);
    if (strcmp(argv[3], "ms") == 0)
        ns_asked = atoll(argv[4]) * 1000000;
    else
        steps_asked = (uint64_t)atoll(argv[4]);
    return *threads >= 1 && *threads <= MAX_THREADS;
}

static void
prepare_worker(struct worker *worker, unsigned index)
{
    worker->index = index;
    worker->random = index + 1;
    worker->room = phase->kept_blocks;
    if (worker->room > 0)
        worker->blocks = table(worker->room, sizeof *worker->blocks);
    worker->batches = table(MAX_BATCHES, sizeof *worker->batches);
}

static int
usage(void)
{
    char names[512];

    phase_names(names, sizeof names);
    fprintf(stderr, "usage: load PHASE THREADS ms|ops NUMBER\nphases:%s\n", names);
    return 2;
}

int
main(int argc, char **argv)
{
    static struct worker workers[MAX_THREADS];
    unsigned threads;
    int64_t began;

    if (!parse(argc, argv, &threads))
        return usage();
    find_rings();
    pthread_barrier_init(&start_line, NULL, threads);
    for (unsigned i = 0; i < threads; i++)
        prepare_worker(&workers[i], i);
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    began = now_ns();
    work(&workers[0]);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    if (ns_asked == 0)
        return 0;
    bool together = ran_together(now_ns() - began, threads);
    print_figures(workers, threads);
    return together ? 0 : 3;
}
