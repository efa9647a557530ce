/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The session: what memtop knows about the program it watches, updated by session_poll()
 * and read by everything that shows or saves it.  Reports and the display never touch a
 * segment or /proc themselves.
 */
#ifndef MEMTOP_SESSION_H
#define MEMTOP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/rss-breakdown.h"
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

/* Parts of a measured process that may be unknown, because a file lacks them. */
enum process_part {
    PART_COUNTERS = 1, /* all but the heap's and stack's bytes, now and peak */
    PART_SIZES = 2,    /* blocks by size */
    PART_CLOCK = 4,    /* times are not ns, but parts of the run */
    PART_USABLE = 8,   /* usable bytes of blocks */
    PART_VAIN = 16,    /* calls without effect: failed ones, free(NULL) */
    PART_STACK = 32,   /* the stack's depth */
};

/* A wait_status for which neither WIFEXITED() nor WIFSIGNALED() is true: the process has
   called exit(), but only its parent knows the status. */
#define PROCESS_STATUS_UNKNOWN 0x7f

/* The length, in parts, of a run whose duration is not known. */
#define PROCESS_RUN_PARTS INT64_C(100000000000)

/* No recorded run is longer than this: ten years. */
#define PROCESS_RUN_MAX_NS (UINT64_C(10) * 366 * 86400 * 1000000000)

/* The watched program. */
struct process {
    pid_t pid;
    enum process_state state;
    bool ended;
    int wait_status;              /* waitpid's, valid in STATE_EXITED/KILLED */
    int64_t run_ns;               /* since its start; constant once it has ended */
    bool measured;                /* now and identity are valid ... */
    unsigned missing;             /* ... except for these parts */
    char why_not[256];            /* one translated line when !measured, or "" */
    bool was_measured;            /* !measured, but identity and now are those of an
                                     earlier image, up to when it executed ... */
    char executed[EXEC_PATH_LEN]; /* ... this program, which is not measured; untrusted */
    struct identity identity;
    struct snapshot now;          /* latest, or last before the end */
    struct histogram sizes;       /* as of the latest poll that asked for it */
    struct rates rates;
    struct procfs_memory os;      /* from /proc; zero-filled if unknown */
    bool os_known;
    uint64_t heap_peak;           /* the largest heap seen */
    uint64_t rss_anon_peak;       /* the most anonymous RSS seen */
    uint64_t rss_peak;
    struct rss_breakdown breakdown; /* as of its latest reading */
    uint64_t stack_touched;       /* high-water mark of touched stack pages, 0 unknown */
    unsigned children;            /* descendants alive now, watched or not */
    unsigned children_seen;       /* segments of descendants ever seen */
    unsigned generations;         /* images: 1 + execs seen */
};

/* Is that part of the process known? */
static inline bool
process_knows(const struct process *process, enum process_part part)
{
    return process->measured && !(process->missing & part);
}

struct session;
struct profile_namer;
struct tracked;
struct tree;
struct usage_options;
struct usage_result;
struct process_list;
struct saved;
struct session_source;

struct session_options {
    /* Of made-up readings (source.h), which the session takes over even if it fails; or
       NULL. */
    const struct session_source *source;
    bool keep_segments;           /* leave segments in place at the end */
};

/* The program started by launch_program() (launch.h). */
struct launched;

/* NULL if memory is short. */
struct session *session_new(const struct session_options *options);

/* Makes a session of a saved one, which it takes over; polling changes nothing.  Returns
   NULL if memory is short (saved is then freed). */
struct session *session_new_saved(struct saved *saved);

/* The saved contents except the root, which was moved out; NULL for a live session. */
const struct saved *session_saved(const struct session *session);

/* Ends the session.  Unlinks the tree's segments, except those of processes still alive:
   these go when the process exits, or can be watched again before. */
void session_free(struct session *session);

/* Watches a launched program: takes over its pid (only the session may wait for it) and
   its segments, not its descriptors.  Called once; before that, why_no_segment may be
   given better words.  Returns 0 or -ENOMEM. */
int session_watch(struct session *session, const struct launched *launched);

/*
 * Watches a running process, without touching it, instead of a launched program.  One
 * without the library is watched too, as far as /proc allows, and why_not says how to get
 * more.  Returns 0, -ENOMEM, -ESRCH: there is no such process; -EACCES: access is denied;
 * -EPROTONOSUPPORT: its library is of another version; -ENOENT: its segment has been
 * removed.
 */
int session_attach(struct session *session, pid_t pid);

/*
 * Shows another process of the tree, or the root again.  What was gathered about the one
 * shown before is dropped, unless it is the root; the history of the new one comes from
 * its flight recorder.  Returns 0, -ENOMEM, or with nothing changed -ENOTSUP: there
 * are no others; -ENOENT: the process has ended and nothing of it is kept; -ENODATA: a
 * saved session has nothing about it.
 */
int session_show(struct session *session, pid_t pid);

/* Reads everything once; now_ns is CLOCK_MONOTONIC (or the test clock).  with_sizes: also
   copy the histogram.  Notices the program's end (never blocks). */
void session_poll(struct session *session, int64_t now_ns, bool with_sizes);

/* The RSS breakdown (rss-breakdown.h) is read in session_poll() while it is shown, and
   now and then if snapshots are kept.  session_read_rss() reads it at once. */
void session_show_rss(struct session *session, bool shown);
void session_read_rss(struct session *session);

/* From now on sampled allocations are read now and then (profile.h), for this process and
   each that is shown; while they are shown, at every poll.  session_read_profile() reads
   them at once.  Returns false if memory is short. */
bool session_keep_profile(struct session *session);
void session_show_profile(struct session *session, bool shown);
void session_read_profile(struct session *session);

/*
 * Calls visit for processes other than the one shown whose allocations were sampled,
 * those with most memory first, as they are now.  If nothing was gathered about a process
 * in the background, only its present is known, and what its flight recorder has.  A
 * tracked process is valid during the call.  If visit returns false no more calls follow.
 */
void session_each_sampled(struct session *session,
                          bool (*visit)(void *context, const struct tracked *tracked),
                          void *context);

/* Who names functions of the process shown, if its source does; else NULL. */
const struct profile_namer *session_namer(struct session *session);

/* A thread: its counters, and what the kernel says about it. */
#define THREADS_MAX 1024
struct thread {
    struct thread_counters counters;
    char name[16];               /* untrusted; "" unknown */
    char state;                  /* R S D T..., 0 unknown */
    uint64_t stack_touched;      /* down to the deepest page touched; 0 unknown */
};

/* Reads the threads of the process shown, at most capacity and THREADS_MAX of them;
   returns how many there are. */
size_t session_threads(struct session *session, struct thread *out, size_t capacity);

/* From now on snapshots are kept to look back at (checkpoints.h), which read the
   histogram now and then.  Returns false if memory is short. */
bool session_keep_checkpoints(struct session *session);

/* From now on the processes of the tree are listed (process-list.h).  Returns false if
   memory is short.  session_want_figures(): each poll also reads what they have
   allocated, because it is shown. */
bool session_keep_processes(struct session *session);
void session_want_figures(struct session *session, bool wanted);
const struct process_list *session_processes(const struct session *session); /* or NULL */

/* While held, the process list and the sampled allocations stay as they are. */
void session_hold(struct session *session, bool hold);

/* Calls visit for each child that was counted (children.h). */
void session_each_child(const struct session *session,
                        void (*visit)(void *context, const struct process *process),
                        void *context);

/* The root: the program that was started.  Reports, limits and conditions are about
   it. */
const struct tracked *session_root(const struct session *session);
const struct process *session_process(const struct session *session);
const struct history *session_history(const struct session *session);
const char *session_command(const struct session *session); /* joined, unsanitised */

/* What the display shows (tracked.h): the root, or the choice of session_show(). */
const struct tracked *session_shown(const struct session *session);

/* From now on the usage of all processes of the launched program's tree is gathered
   (usage.h).  Returns false if memory is short. */
bool session_keep_usage(struct session *session, const struct usage_options *options);

/* Updates the usage between two polls. */
void session_poll_usage(struct session *session);

/* Returns the usage; call once, after the program's end.  Returns false if it was not
   gathered. */
bool session_usage(struct session *session, struct usage_result *result);

/* The segments of the launched program's tree, or NULL; valid as long as the session. */
struct tree *session_tree(struct session *session);

/* Messages in order; index 0 is the oldest kept.  total includes those dropped, so it
   grows with each message. */
size_t session_message_count(const struct session *session);
uint64_t session_message_total(const struct session *session);
const struct message *session_message(const struct session *session, size_t index);
void session_say(struct session *session, enum severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * How much of the process's own memory malloc explains: the peak of the heap divided by
 * the peak of the anonymous RSS, in 0..100 percent, or -1 if unknown.  Present values are
 * not used: freed memory that the allocator holds would look like memory from elsewhere.
 */
int process_coverage(const struct process *process);

/* "SIGSEGV"; "signal 40" for a signal without a name (valid until the next call). */
const char *process_signal_name(int signal);

const char *process_state_word(enum process_state state);  /* translated */
const char *process_state_json(enum process_state state);

#endif
