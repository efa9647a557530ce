/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The session: what memtop knows of the program it watches, brought up to date
 * by session_poll() and read by everything that shows or saves it.  Reports
 * and the display never touch a segment or /proc themselves.
 */
#ifndef MEMTOP_SESSION_H
#define MEMTOP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/bands.h"
#include "monitor/history.h"
#include "monitor/messages.h"
#include "system/procfs.h"
#include "segment/reader.h"

/* State, the word in the display's header (at most 8 columns, translatable)
   and its name in JSON. */
#define PROCESS_STATES(X)                                                      \
    /* TRANSLATORS: states of a process; at most 8 columns. */                 \
    X(STARTING, N_("STARTING"), "starting")   /* no handshake yet */           \
    X(NOT_LOADED, N_("NO DATA"), "not-measured") /* runs without counters */   \
    X(RUNNING, N_("RUNNING"), "running")                                       \
    X(IDLE, N_("IDLE"), "idle")               /* no call for 5 s */            \
    X(STOPPED, N_("STOPPED"), "stopped")      /* SIGSTOP, SIGTSTP... */        \
    /* TRANSLATORS: no consistent figures could be read. */                    \
    X(STALE, N_("STALE"), "stale")            /* no consistent read */         \
    X(EXITED, N_("EXITED"), "exited")                                          \
    X(KILLED, N_("KILLED"), "killed")         /* the display names the signal */  \
    X(GONE, N_("GONE"), "gone")               /* ended, status unknown */

enum process_state {
#define X(id, word, json) STATE_##id,
    PROCESS_STATES(X)
#undef X
    STATE_COUNT
};

/* Per second, over the last interval. */
struct rates {
    double calls[FN_COUNT];
    double bytes_allocated;
    double bytes_freed;
};

/* What may not be known of a process that is measured: a file may lack it. */
enum process_part {
    PART_COUNTERS = 1, /* but for the heap's and stack's bytes, now and at most */
    PART_SIZES = 2,    /* blocks by size */
    PART_CLOCK = 4,    /* times are no ns, but parts of the run */
    PART_USABLE = 8,   /* what blocks occupy */
    PART_VAIN = 16,    /* calls that came to nothing: failed, free(NULL) */
    PART_STACK = 32,   /* the stack's depth */
};

/* A wait_status with which neither WIFEXITED() nor WIFSIGNALED() is true: of a process
   that has called exit(), but whose status only its parent knows. */
#define PROCESS_STATUS_UNKNOWN 0x7f

/* All of a run whose time is not known. */
#define PROCESS_RUN_PARTS INT64_C(100000000000)

/* No run that was recorded is longer: ten years. */
#define PROCESS_RUN_MAX_NS (UINT64_C(10) * 366 * 86400 * 1000000000)

/* The watched program. */
struct process {
    pid_t pid;
    enum process_state state;
    bool ended;
    int wait_status;              /* waitpid's, valid in STATE_EXITED/KILLED */
    int64_t run_ns;               /* since its start; stands still once ended */
    bool measured;                /* now and identity are valid ... */
    unsigned missing;             /* ... but for these parts */
    char why_not[256];            /* one translated line when !measured, or "" */
    bool was_measured;            /* !measured, but identity and now are those of an
                                     earlier image, up to when it executed ... */
    char executed[EXEC_PATH_LEN]; /* ... this, which is not measured; untrusted */
    struct identity identity;
    struct snapshot now;          /* latest, or last before the end */
    struct histogram sizes;       /* as of the latest poll that asked for it */
    struct rates rates;
    struct procfs_memory os;      /* as /proc tells; zero-filled if unknown */
    bool os_known;
    uint64_t heap_peak;           /* the most the heap was seen to occupy */
    uint64_t rss_anon_peak;       /* the most anonymous RSS seen */
    uint64_t rss_peak;
    struct bands bands;           /* as of the latest reading of them */
    uint64_t stack_touched;       /* high-water mark of touched stack pages, 0 unknown */
    unsigned children;            /* descendants alive now, watched or not */
    unsigned children_seen;       /* segments of descendants ever seen */
    unsigned generations;         /* images: 1 + execs seen */
};

/* Whether that part of it is known. */
static inline bool
process_knows(const struct process *process, enum process_part part)
{
    return process->measured && !(process->missing & part);
}

struct session;
struct profile_namer;
struct subject;
struct tree;
struct usage_options;
struct usage_result;
struct roster;
struct saved;
struct session_source;

struct session_options {
    const struct session_source *source;  /* of made-up readings (source.h), which the session
                                     takes over even if it fails; or NULL */
    bool keep_segments;           /* leave segments in place at the end */
};

/* The program as started by launch_program() (launch.h). */
struct launched;

/* NULL if memory is short. */
struct session *session_new(const struct session_options *options);

/* A session that was saved, which it takes over: polling leaves it as it is.  NULL
   if memory is short (saved is then freed). */
struct session *session_new_saved(struct saved *saved);

/* What it was made of, less the root; NULL: of a living session. */
const struct saved *session_saved(const struct session *session);

/* Unlinks the tree's segments, but for those of processes still alive: these
   go when the process exits, or can be watched again before. */
void session_free(struct session *session);

/* Watches a launched program: takes over its pid (nobody else may wait for it)
   and its segments, not its descriptors.  Called once.  why_no_segment may be
   given better words before.  Returns 0 or -ENOMEM. */
int session_watch(struct session *session, const struct launched *launched);

/*
 * Watches a process that runs already, without touching it, in place of a launched
 * program.  One without the library is watched too, as far as /proc tells, and
 * why_not says how to get more.  Returns 0, -ENOMEM, -ESRCH: there is no such
 * process; -EACCES: it may not be looked at; -EPROTONOSUPPORT: its library is of
 * another version; -ENOENT: its segment has been removed.
 */
int session_attach(struct session *session, pid_t pid);

/*
 * Shows another process of the tree, or the root again.  What was gathered of the
 * one shown before, unless it is the root, is dropped; the past of this one comes
 * from its flight recorder.  Returns 0, -ENOMEM, or with nothing changed -ENOTSUP if
 * there are no others, -ENOENT: it has ended and nothing of it is kept; -ENODATA: a saved session has
 * nothing of it.
 */
int session_show(struct session *session, pid_t pid);

/* Reads everything once; now_ns is CLOCK_MONOTONIC (or the test clock).
   with_sizes: also copy the histogram.  Notices the program's end (never
   blocks). */
void session_poll(struct session *session, int64_t now_ns, bool with_sizes);

/* Where the RSS went (bands.h) is read in session_poll() while it is shown, and now
   and then if moments are kept to look back at; and at once. */
void session_show_bands(struct session *session, bool shown);
void session_read_bands(struct session *session);

/* From now on sampled allocations are read now and then (profile.h), of this process
   and each that is shown; at every poll while they are shown; and at once.  False if
   memory is short. */
bool session_keep_profile(struct session *session);
void session_show_profile(struct session *session, bool shown);
void session_read_profile(struct session *session);

/*
 * Calls visit for other processes than the one shown whose allocations were sampled,
 * those with most memory first, as they are now: of those that nobody looks at only
 * the present is known, and what the flight recorder has.  A subject is good for the
 * call.  visit returning false ends it.
 */
void session_each_sampled(struct session *session,
                          bool (*visit)(void *context, const struct subject *subject),
                          void *context);

/* Who names functions of the process shown, if its source does; else NULL. */
const struct profile_namer *session_namer(struct session *session);

/* A thread: its counters, and what the kernel says of it. */
#define THREADS_MAX 1024
struct thread {
    struct thread_counters counters;
    char name[16];               /* untrusted; "" unknown */
    char state;                  /* R S D T..., 0 unknown */
    uint64_t stack_touched;      /* down to the deepest page ever, 0 unknown */
};

/* Reads the threads of the process shown now, at most capacity and THREADS_MAX;
   returns how many there are. */
size_t session_threads(struct session *session, struct thread *out, size_t capacity);

/* From now on moments of the run are kept to look back at (checkpoints.h), which
   asks for the histogram now and then.  False if memory is short. */
bool session_keep_checkpoints(struct session *session);

/* From now on the processes of the tree are listed (roster.h).  False if memory is
   short.  session_want_figures(): each poll also reads what they have allocated,
   for someone looks at them. */
bool session_keep_roster(struct session *session);
void session_want_figures(struct session *session, bool wanted);
const struct roster *session_roster(const struct session *session); /* or NULL */

/* The list and the sampled allocations stay as they are meanwhile. */
void session_hold(struct session *session, bool hold);

/* Calls visit for each child that was counted (children.h). */
void session_each_child(const struct session *session,
                        void (*visit)(void *context, const struct process *process),
                        void *context);

/* The root: what was started.  Reports, limits and conditions are of it. */
const struct subject *session_root(const struct session *session);
const struct process *session_process(const struct session *session);
const struct history *session_history(const struct session *session);
const char *session_command(const struct session *session); /* joined, unsanitised */

/* What the display shows (subject.h): the root, or what session_show() says. */
const struct subject *session_shown(const struct session *session);

/* From now on the usage of all processes of the launched program's tree is gathered
   (usage.h).  False if memory is short. */
bool session_keep_usage(struct session *session, const struct usage_options *options);

/* Looks at it between two polls. */
void session_poll_usage(struct session *session);

/* What they have used; once, after the program's end.  False if it was not gathered. */
bool session_usage(struct session *session, struct usage_result *result);

/* The segments of the launched program's tree, or NULL; good as long as the session. */
struct tree *session_tree(struct session *session);

/* Messages in order; index 0 is the oldest kept.  total counts those dropped
   as well: it grows with each. */
size_t session_message_count(const struct session *session);
uint64_t session_message_total(const struct session *session);
const struct message *session_message(const struct session *session, size_t index);
void session_say(struct session *session, enum severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * How much of the process's own memory malloc explains: the heap at its
 * greatest against the anonymous RSS at its greatest, in 0..100 percent, or -1
 * if unknown.  Not as of now: freed memory that the allocator keeps would look
 * like memory from elsewhere.
 */
int process_coverage(const struct process *process);

/* "SIGSEGV"; for a number without a name, "signal 40" (good until the next call). */
const char *process_signal_name(int signal);

const char *process_state_word(enum process_state state);  /* translated */
const char *process_state_json(enum process_state state);

#endif
