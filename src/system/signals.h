/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals to memtop as events: read from a descriptor, judged here, acted on by the
 * caller.  Also restores, for the program, the dispositions that memtop changed.
 */
#ifndef MEMTOP_SIGNALS_H
#define MEMTOP_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* What a signal asks memtop to do. */
enum signal_action {
    SIGNAL_NOTHING,
    SIGNAL_FORWARD,   /* send event.signal to the program and wait for its end */
    SIGNAL_REACHED,   /* like FORWARD, but the terminal has sent it already */
    SIGNAL_QUIT,      /* the second one: end memtop, leave the program alone */
    SIGNAL_DETACH,    /* the terminal is gone: leave the program running */
    SIGNAL_CHILD,     /* a child changed its state */
    SIGNAL_RESIZED,   /* the terminal changed its size */
    SIGNAL_CLAIMED    /* one that memtop has claimed for itself */
};

struct signal_event {
    enum signal_action action;
    int signal;
};

/*
 * Blocks the signals and opens the descriptor that reports them; remembers what memtop
 * inherited.  Signals that memtop was started to ignore (nohup, a background job) stay
 * ignored.  Returns 0 or -errno.  Call once, before launch_program().
 */
int signals_open(void);

/* From now on this signal (one of those watched) is memtop's own: SIGNAL_CLAIMED. */
void signals_claim(int signal);

/* Restores what was inherited and closes the descriptor. */
void signals_close(void);

/* Readable (poll) if there is an event; -1 if not open. */
int signals_fd(void);

/*
 * Takes the next event; false if there is none.  own_terminal: the program has a pty of
 * its own, so a ^C on ours does not reach it.  now_ns (CLOCK_MONOTONIC) distinguishes a
 * second signal from the echo of the first: timeout(1) and shells signal a process as
 * well as its group.
 */
bool signals_next(bool own_terminal, int64_t now_ns, struct signal_event *event);

/* Called in the child between fork and exec: restores mask and dispositions as memtop
   inherited them.  Async-signal-safe. */
void signals_restore_in_child(void);

/* The rule of signals_next() for one signal: state is what it remembers, zero at first;
   from_terminal: sent by the kernel, not by kill(2). */
struct signal_state {
    bool ending;        /* a signal that asks for the end has come */
    int64_t ending_ns;
};
enum signal_action signals_judge(struct signal_state *state, int signal,
                                 bool from_terminal, bool own_terminal, int64_t now_ns);

#endif
