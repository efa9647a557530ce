/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a process and not a thread: libdw cannot be stopped in the middle of a file, nor
 * can a download; a malicious file may crash it or make it take all memory; and whether
 * servers are asked depends on the environment, which is meant for the program that
 * memtop starts.  In a process of its own none of this affects memtop.
 *
 * The child keeps nothing of memtop's but the socket: it has a session of its own (so ^C
 * in the terminal does not reach it), no descriptors, and default dispositions.  If
 * memory runs out the kernel kills it first, and it works at the lowest priority.
 */
#include "config.h"

#include "symbols/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NICENESS 10

/* Seconds for one question: reading clang's debugging information takes some ten, and a
   server may need longer to send it. */
#define PATIENCE 120
#define PATIENCE_SERVER 900

/* A question is sent only up to the end of its path. */
static size_t
question_size(const struct symbol_question *question)
{
    return offsetof(struct symbol_question, file.path) + strlen(question->file.path) + 1;
}

static void
take_default_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes descriptors 0 to 2 /dev/null and 3 the socket; closes all others. */
static void
keep_only(int socket)
{
    if (socket != 3)
        dup2(socket, 3);
    int null = open("/dev/null", O_RDWR); /* done after dup2(): it cannot be 3 */
    for (int i = 0; i < 3; i++)
        if (null != i)
            dup2(null, i);
    if (syscall(SYS_close_range, 4u, ~0u, 0u) != 0)
        for (int i = 4, end = (int)sysconf(_SC_OPEN_MAX); i < end; i++)
            close(i);
}

static void
be_modest(void)
{
    const struct rlimit none = {0, 0};
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (score >= 0) {
        if (write(score, "1000", 4) != 4)
            errno = 0; /* then it is as likely as memtop to be killed */
        close(score);
    }
    setpriority(PRIO_PROCESS, 0, NICENESS);
    setrlimit(RLIMIT_CORE, &none);
}

/* Returns false when there is nothing more to do. */
static bool
answer_next(unsigned patience)
{
    static struct symbol_question question;
    static struct answer answer;
    ssize_t got = recv(3, &question, sizeof question, 0);

    if (got < 0 && errno == EINTR)
        return true;
    if (got <= (ssize_t)offsetof(struct symbol_question, file.path))
        return false;
    alarm(patience);
    if (question.file.generated)
        generated_answer(&question, &answer);
    else
        resolver_answer(&question, &answer);
    alarm(0);
    return send(3, answer.bytes, answer.used, MSG_NOSIGNAL) == (ssize_t)answer.used;
}

static void
work(int socket, pid_t parent, bool debuginfod)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    prctl(PR_SET_NAME, "memtop-symbols");
    setsid();
    take_default_signals();
    keep_only(socket);
    images_forget();
    be_modest();
    if (!debuginfod)
        unsetenv("DEBUGINFOD_URLS");
    while (answer_next(debuginfod ? PATIENCE_SERVER : PATIENCE))
        ;
    _exit(0);
}

int
helper_start(struct helper *helper, bool debuginfod)
{
    pid_t self = getpid();
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    helper->pid = fork();
    if (helper->pid == 0)
        work(ends[1], self, debuginfod);
    int error = helper->pid < 0 ? -errno : 0;
    close(ends[1]);
    if (error != 0)
        close(ends[0]);
    helper->socket = ends[0];
    return error;
}

void
helper_stop(struct helper *helper)
{
    close(helper->socket);
    kill(helper->pid, SIGKILL);
    while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

bool
helper_ask(struct helper *helper, const struct symbol_question *question)
{
    return send(helper->socket, question, question_size(question),
                MSG_DONTWAIT | MSG_NOSIGNAL)
           > 0;
}

int
helper_receive(struct helper *helper, struct answer *out)
{
    ssize_t got;

    do
        got = recv(helper->socket, out->bytes, sizeof out->bytes, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (got <= 0)
        return got < 0 ? -errno : -EPIPE;
    out->used = (size_t)got;
    return 1;
}
