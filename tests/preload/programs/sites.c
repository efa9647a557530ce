/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs whose allocations are sampled. */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

/* Keeps the blocks alive. */
static void *kept[200000];

/* ---- signals during unwinding ---- */

/* Defined by interrupts.plugin, if that is preloaded. */
extern volatile sig_atomic_t raised_after __attribute__((weak));

static sigjmp_buf before_signal;
static volatile pid_t forked_within;

static void
jump(int signal)
{
    (void)signal;
    siglongjmp(before_signal, 1);
}

static void
end_thread(int signal)
{
    (void)signal;
    pthread_exit(NULL);
}

static void
fork_within(int signal)
{
    (void)signal;
    forked_within = fork();
}

/* A signal interrupts the walk of the next sampled block's stack. */
static void
interrupt_by(void (*handler)(int))
{
    REQUIRE(&raised_after != NULL);
    signal(SIGUSR1, handler);
    raised_after = 1;
}

static void
left_by_jump(void)
{
    interrupt_by(jump);
    if (sigsetjmp(before_signal, 1) == 0)
        kept[0] = malloc(100);
    REQUIRE(raised_after == 0);
    for (unsigned i = 1; i <= 1000; i++)
        kept[i] = malloc(100);
}

static void *
ended(void *argument)
{
    (void)argument;
    interrupt_by(end_thread);
    kept[0] = malloc(100);
    return NULL;
}

static void
ended_within(void)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, ended, NULL) == 0);
    pthread_join(thread, NULL);
    REQUIRE(raised_after == 0);
    for (unsigned i = 1; i <= 1000; i++)
        kept[i] = malloc(100);
}

/* The child also returns into the unwinder, and goes on. */
static void
forked_in_handler(void)
{
    int status;

    interrupt_by(fork_within);
    kept[0] = malloc(100);
    REQUIRE(raised_after == 0);
    for (unsigned i = 1; i <= 1000; i++)
        kept[i] = malloc(100);
    if (forked_within == 0)
        _exit(0);
    REQUIRE(waitpid(forked_within, &status, 0) == forked_within && status == 0);
}

/* The child takes its first sample when its parent's tables have grown. */
static void
forked_before_growth(void)
{
    int grown[2], status;
    pid_t child;
    char byte;

    kept[0] = malloc(100);
    REQUIRE(pipe(grown) == 0);
    child = fork();
    if (child == 0) {
        close(grown[1]);
        REQUIRE(read(grown[0], &byte, 1) == 0);
        for (unsigned i = 1; i <= 1000; i++)
            kept[i] = malloc(100);
        _exit(0);
    }
    for (unsigned i = 1; i < 100000; i++)
        kept[i] = malloc(i % 5000);
    close(grown[1]);
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    tell("child", (unsigned long long)child);
}

/* ---- blocks of all kinds ---- */

static uint64_t
next_random(void)
{
    static __thread uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Every way to make, resize and free a block. */
static void
every_way(void)
{
    for (unsigned i = 0; i < 300; i++)
        kept[i] = malloc(i * 37);
    for (unsigned i = 300; i < 400; i++)
        kept[i] = calloc(i, 3);
    for (unsigned i = 400; i < 450; i++)
        REQUIRE(posix_memalign(&kept[i], 64, i) == 0);
    kept[450] = aligned_alloc(32, 320);
    kept[451] = memalign(128, 1000);
    kept[452] = valloc(100);
    kept[454] = malloc(3 << 20);
    kept[455] = realloc(NULL, 77);
    for (unsigned i = 0; i < 100; i++)
        kept[i] = realloc(kept[i], i * 50 + 1);      /* grows */
    for (unsigned i = 100; i < 200; i++)
        kept[i] = realloc(kept[i], i);               /* shrinks */
    for (unsigned i = 200; i < 250; i++)
        kept[i] = realloc(kept[i], 0);               /* frees */
    REQUIRE(realloc(kept[250], PTRDIFF_MAX) == NULL);  /* fails; the block remains */
    REQUIRE(malloc_usable_size(kept[250]) >= 250 * 37);
    memset(kept[250], 1, malloc_usable_size(kept[250]));
    kept[454] = realloc(kept[454], 5 << 20);
    for (unsigned i = 300; i < 350; i++)
        free(kept[i]);
    free(kept[454]);
}

/* The same, and then SIGKILL, which no code sees. */
static void
killed(void)
{
    every_way();
    raise(SIGKILL);
}

/* A million blocks of 64 bytes, each freed at once. */
static void
uniform(void)
{
    for (unsigned i = 0; i < 1000000; i++)
        free(malloc(64));
}

/* The same with a size that leaves a part of its last word unused. */
static void
uneven(void)
{
    for (unsigned i = 0; i < 1000000; i++)
        free(malloc(49));
}

/* Sizes of all kinds, half of them kept. */
static void
mixed(void)
{
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t random = next_random();
        size_t size = random % 16 == 0 ? random >> 16 & 0x7fff : random >> 16 & 0xff;
        void *block = malloc(size);
        if (i % 2 == 0)
            kept[i / 2] = block;
        else
            free(block);
    }
}

/* More blocks than the table holds. */
static void
crowded(void)
{
    for (unsigned i = 0; i < 140000; i++)
        kept[i] = malloc(i % 64);
    for (unsigned i = 0; i < 140000; i += 2)
        free(kept[i]);
}

/* ---- threads ---- */

static void *
churn(void *argument)
{
    void *blocks[64] = {NULL};

    (void)argument;
    for (unsigned i = 0; i < 20000; i++) {
        void **block = &blocks[next_random() % 64];
        free(*block);
        *block = malloc(next_random() % 500);
    }
    for (unsigned i = 0; i < 64; i += 2)
        free(blocks[i]);
    return NULL;
}

static void
run_threads(unsigned count, void *(*body)(void *))
{
    pthread_t threads[8];

    for (unsigned i = 0; i < count; i++)
        REQUIRE(pthread_create(&threads[i], NULL, body, NULL) == 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void
threads(void)
{
    run_threads(4, churn);
}

/* ---- fork ---- */

/* The child frees half of what it has inherited and makes something of its own. */
static void
forked(void)
{
    int status;
    pid_t child;

    for (unsigned i = 0; i < 1000; i++)
        kept[i] = malloc(100 + i % 3);
    child = fork();
    if (child == 0) {
        for (unsigned i = 0; i < 1000; i += 2)
            free(kept[i]);
        for (unsigned i = 1000; i < 1100; i++)
            kept[i] = malloc(999);
        raise(SIGKILL);
    }
    for (unsigned i = 1; i < 1000; i += 2) /* meanwhile the parent frees the others */
        free(kept[i]);
    REQUIRE(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    tell("child", (unsigned long long)child);
}

/* Forks repeatedly while threads allocate. */
static bool stop;

static void *
churn_on(void *argument)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        free(malloc(next_random() % 1000));
    return argument;
}

static void
forked_threads(void)
{
    pthread_t threads[3];

    for (unsigned i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, churn_on, NULL) == 0);
    for (unsigned i = 0; i < 25; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            for (unsigned k = 0; k < 100; k++)
                free(malloc(k));
            _exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the loader ---- */

static void *
storm(void *argument)
{
    for (unsigned i = 0; i < 300; i++) {
        void *library = dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL);
        void *other = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
        free(malloc(i));
        if (library != NULL)
            dlclose(library);
        if (other != NULL)
            dlclose(other);
    }
    return argument;
}

/* Loads and unloads libraries while other threads allocate. */
static void
storms(void)
{
    pthread_t threads[4];

    for (unsigned i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, churn_on, NULL) == 0);
    for (unsigned i = 2; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, storm, NULL) == 0);
    for (unsigned i = 2; i < 4; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* The loader calls this with the lock of its list held. */
static int
visit_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)info;
    (void)size;
    free(malloc(100));
    return argument == NULL;
}

static void *
visit_all(void *argument)
{
    for (unsigned i = 0; i < 500; i++)
        dl_iterate_phdr(visit_object, argument);
    return &stop;
}

static void
iterating(void)
{
    pthread_t other;

    REQUIRE(pthread_create(&other, NULL, churn_on, NULL) == 0);
    run_threads(4, visit_all);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(other, NULL);
}

/* ---- frames that the program registers ---- */

#include "frames.h"

/* libgcc allocates with its lock held when it first looks at registered frames. */
static void
registered_frames(void)
{
    struct dwarf_eh_bases bases;
    struct frames frames;

    alarm(60);
    for (unsigned i = 0; i < 100; i++) {
        frames_make(&frames, (uintptr_t)kept);
        __register_frame(&frames);
        REQUIRE(_Unwind_Find_FDE((char *)kept + 1, &bases) != NULL);
        kept[i] = malloc(1234);
        __deregister_frame(&frames);
    }
}

/* Forks while threads take libgcc's lock all the time. */
static void
forked_registered(void)
{
    struct frames frames;

    alarm(60);
    frames_make(&frames, (uintptr_t)kept);
    __register_frame(&frames);
    forked_threads();
    __deregister_frame(&frames);
}

static sem_t in_callback, holding;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static int
wait_for_other(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)info;
    (void)size;
    (void)argument;
    sem_post(&in_callback);
    sem_wait(&holding);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return 1;
}

/* Allocates at a place for the first time, and holds a lock for which the owner of the
   list waits. */
static void *
allocate_holding(void *argument)
{
    pthread_mutex_lock(&held);
    sem_post(&holding);
    sem_wait(&in_callback);
    free(malloc(77));
    pthread_mutex_unlock(&held);
    return argument;
}

static void
waiting_callback(void)
{
    pthread_t other;

    sem_init(&in_callback, 0, 0);
    sem_init(&holding, 0, 0);
    REQUIRE(pthread_create(&other, NULL, allocate_holding, NULL) == 0);
    dl_iterate_phdr(wait_for_other, NULL);
    pthread_join(other, NULL);
}

/* ---- odd places ---- */

static volatile unsigned handled;

static void
on_alarm(int number)
{
    (void)number;
    kept[handled++ % 1000 + 1000] = malloc(50);
}

/* Allocates in a signal handler that has a stack of its own. */
static void
in_handler(void)
{
    static unsigned char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK};

    REQUIRE(sigaltstack(&other, NULL) == 0);
    sigaction(SIGUSR1, &action, NULL);
    for (unsigned i = 0; i < 2000; i++)
        raise(SIGUSR1);
    REQUIRE(handled == 2000);
}

static pthread_key_t key;
static unsigned rounds;

static void
at_thread_end(void *value)
{
    free(value);
    free(malloc(300));
    if (__atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED) % 3 != 0)
        pthread_setspecific(key, malloc(20)); /* the destructor is called again */
}

static void *
with_key(void *argument)
{
    pthread_setspecific(key, malloc(10));
    return argument;
}

static void
at_ends(void)
{
    REQUIRE(pthread_key_create(&key, at_thread_end) == 0);
    for (unsigned i = 0; i < 50; i++)
        run_threads(4, with_key);
}

/* For a thread with the smallest stack. */
static void *
on_small_stack(void *argument)
{
    for (unsigned i = 0; i < 100; i++)
        free(malloc(i));
    return argument;
}

static void
small_stacks(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    REQUIRE(pthread_attr_setstacksize(&attributes, 16384) == 0);
    for (unsigned i = 0; i < 20; i++) {
        REQUIRE(pthread_create(&thread, &attributes, on_small_stack, NULL) == 0);
        pthread_join(thread, NULL);
    }
}

/* Runs before main, and, if the loader chooses so, before the library's constructor. */
__attribute__((constructor)) static void
before_main(void)
{
    for (unsigned i = 190000; i < 190010; i++)
        kept[i] = malloc(i % 100);
}

/* ---- stacks ---- */

static __attribute__((noinline)) void *
recurse(unsigned depth, size_t size)
{
    void *block = depth == 0 ? malloc(size) : recurse(depth - 1, size);

    __asm__ volatile("" : : "r"(block) : "memory");
    return block;
}

static void
deep(void)
{
    kept[0] = recurse(100, 4321);
    kept[1] = recurse(3, 1234);
    tell("deep", (uintptr_t)deep);
    tell("recurse", (uintptr_t)recurse);
}

#ifdef __x86_64__
/* Functions without unwind tables that call another function: framed() has a frame
   pointer, unframed() does not, astray() has the wrong value in its register. */
void *framed(void *(*function)(void));
void *unframed(void *(*function)(void));
void *astray(void *(*function)(void), uintptr_t pointer);
__asm__(".text\n"
        ".type framed, @function\n"
        "framed:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "sub $64, %rsp\n"
        "call *%rdi\n"
        "leave\n"
        "ret\n"
        ".size framed, .-framed\n"
        ".type unframed, @function\n"
        "unframed:\n"
        "sub $40, %rsp\n"
        "call *%rdi\n"
        "add $40, %rsp\n"
        "ret\n"
        ".size unframed, .-unframed\n"
        ".type astray, @function\n"
        "astray:\n"
        "push %rbp\n"
        "mov %rsi, %rbp\n"
        "call *%rdi\n"
        "pop %rbp\n"
        "ret\n"
        ".size astray, .-astray\n");

/* Functions whose tables are not to be believed. */
#define ODD(name, tables)                                                                \
    void *name(void *(*function)(void));                                                 \
    __asm__(".text\n"                                                                    \
            ".type " #name ", @function\n" #name ":\n"                                   \
            ".cfi_startproc\n"                                                           \
            "sub $24, %rsp\n"                                                            \
            ".cfi_def_cfa_offset 32\n" tables "\n"                                       \
            "call *%rdi\n"                                                               \
            "add $24, %rsp\n"                                                            \
            "ret\n"                                                                      \
            ".cfi_endproc\n"                                                             \
            ".size " #name ", .-" #name "\n")

ODD(odd_instruction, ".cfi_escape 0x2d"); /* another machine's, which the linker knows */
ODD(odd_operation, ".cfi_escape 0x0f, 1, 0xe0");
ODD(reads_nothing, ".cfi_escape 0x0f, 2, 0x30, 0x06");                /* *(0) */
ODD(reads_elsewhere, ".cfi_escape 0x10, 16, 3, 0x08, 8, 0x06");       /* *(8) */
ODD(endless, ".cfi_escape 0x0f, 4, 0x30, 0x2f, 0xfd, 0xff");          /* skip back */
ODD(scratch, ".cfi_def_cfa %r10, 8");
ODD(far_above, ".cfi_def_cfa_offset 0x7ffffff8");
ODD(stays, ".cfi_def_cfa_offset 0");
ODD(falls, ".cfi_escape 0x12, 7, 0x7f");                              /* rsp + 8 * -1 */
ODD(far_return, ".cfi_escape 0x11, 16, 0x80, 0x80, 0x80, 0x80, 0x7f");
ODD(no_signal, ".cfi_signal_frame\n.cfi_escape 0x16, 7, 1, 0x30");    /* rsp is 0 */

static void *
make_marked(void)
{
    return malloc(7531);
}

/* The same in memory that belongs to no object, as a compiler in the program makes it. */
static void *
jit(void *(*function)(void))
{
    static const unsigned char code[] = {
        0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0xc9, 0xc3 /* framed() */
    };
    void *(*made)(void *(*)(void));
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(memory != MAP_FAILED);
    memcpy(memory, code, sizeof code);
    *(void **)&made = memory;
    return made(function);
}

static void
no_tables(void)
{
    tell("no_tables", (uintptr_t)no_tables);
    kept[0] = framed(make_marked);
}

static void
no_object(void)
{
    tell("no_object", (uintptr_t)no_object);
    kept[0] = jit(make_marked);
}

static void
odd_tables(void)
{
    static void *(*const functions[])(void *(*)(void)) = {
        odd_instruction, odd_operation, reads_nothing, reads_elsewhere, endless,  scratch,
        far_above,       stays,         falls,         far_return,      no_signal};

    for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++)
        kept[i] = functions[i](make_marked);
}

/* The plugins of both arguments, one after the other in the same place. */
static void
reloaded(void)
{
    void *(*with_room[2])(void *(*)(void));

    for (int i = 0; i < 2; i++) {
        void *library = dlopen(case_argv[2 + i], RTLD_NOW | RTLD_LOCAL);

        REQUIRE(library != NULL);
        *(void **)&with_room[i] = dlsym(library, "with_room");
        REQUIRE(with_room[i] != NULL);
        kept[i] = with_room[i](make_marked);
        REQUIRE(dlclose(library) == 0);
    }
    tell("reloaded", (uintptr_t)reloaded);
    tell("moved", with_room[0] != with_room[1]);
}

/* Frame pointers that do not point into this stack, or not upwards. */
static void
no_frame(void)
{
    static uintptr_t elsewhere[64];
    uintptr_t here[4] = {(uintptr_t)here, (uintptr_t)no_frame};
    const uintptr_t pointers[] = {0,
                                  1,
                                  (uintptr_t)elsewhere,
                                  (uintptr_t)here,
                                  (uintptr_t)here + 1,
                                  (uintptr_t)here - 1000,
                                  (uintptr_t)here + (2 << 20),
                                  UINTPTR_MAX,
                                  UINTPTR_MAX - 15,
                                  UINTPTR_MAX / 2};

    kept[0] = unframed(make_marked);
    for (unsigned i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
        kept[i + 1] = astray(make_marked, pointers[i]);
}

/* last_call() ends with its call of malloc: the return address lies in another
   function. */
void *last_call(void);
__asm__(".text\n"
        ".type last_call, @function\n"
        "last_call:\n"
        ".cfi_startproc\n"
        "subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "movl $8642, %edi\n"
        "call malloc@PLT\n"
        ".size last_call, .-last_call\n"
        ".type behind_call, @function\n"
        "behind_call:\n"
        "addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size behind_call, .-behind_call\n");

static void
at_end_of_function(void)
{
    kept[0] = last_call();
}
#endif

static void
nothing(void)
{
}

CASES
    CASE(every_way)
    CASE(killed)
    CASE(uniform)
    CASE(uneven)
    CASE(mixed)
    CASE(crowded)
    CASE(threads)
    CASE(forked)
    CASE(forked_threads)
    CASE(storms)
    CASE(iterating)
    CASE(waiting_callback)
    CASE(registered_frames)
    CASE(forked_registered)
    CASE(in_handler)
    CASE(at_ends)
    CASE(small_stacks)
    CASE(deep)
#ifdef __x86_64__
    CASE(at_end_of_function)
    CASE(no_tables)
    CASE(no_object)
    CASE(no_frame)
    CASE(reloaded)
    CASE(odd_tables)
#endif
    CASE(left_by_jump)
    CASE(ended_within)
    CASE(forked_in_handler)
    CASE(forked_before_growth)
    CASE(nothing)
END_CASES
