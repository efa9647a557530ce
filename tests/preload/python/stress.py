# SPDX-License-Identifier: LGPL-2.1-or-later
# What a walk might break, or might be broken by.  MEMTOP_TEST_EVERY has a walk at each
# or at some allocations, from the interpreter's start to its end.
import atexit
import ctypes
import gc
import os
import sys
import threading

walker = ctypes.PyDLL(sys.argv[1])
WHOLE, CUT, IDLE, OTHER = range(4)


def generator(depth):
    if depth > 0:
        yield from generator(depth - 1)
    yield [depth] * depth


def recursion(depth, *args, **kwargs):
    # Arguments of these kinds are allocated while the frame is made.
    if depth > 0:
        return recursion(depth - 1, *args, depth, **kwargs)
    return len(args)


def endless():
    return endless() + 1


class Dying:
    def __init__(self):
        self.itself = self
        self.text = "x" * 100

    def __del__(self):
        recursion(5, a=1)


def work(rounds):
    for i in range(rounds):
        recursion(100, a=1)
        sum(len(x) for x in generator(20))
        sorted(range(50), key=lambda x: -x)
        Dying()
        if i % 5 == 0:
            gc.collect()
        try:
            recursion(3, *[0] * 100, b=[i for i in range(100)])
            raise ValueError(i)
        except ValueError:
            exec("def f(a, *b, **c): return [a, b, c]\nf(1, 2, d=3)", {})


def too_deep():
    # Beyond the recursion limit, so that frames are unwound from far below.
    for _ in range(3):
        try:
            endless()
        except RecursionError:
            pass


def threads():
    running = [threading.Thread(target=work, args=(6,)) for _ in range(6)]
    for thread in running:
        thread.start()
    work(3)
    for thread in running:
        thread.join()


def forks():
    for i in range(10):
        child = os.fork()
        if child == 0:
            work(2)
            if i % 2 == 0:
                os._exit(0)
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0


def sub_interpreters():
    code = "def f(n):\n  return [f(n - 1)] * n if n else [1]\nfor _ in range(20): f(20)"
    before = walker.walker_answers(OTHER)
    if sys.version_info >= (3, 13):
        import _interpreters as interpreters
        run = interpreters.exec
    else:
        import _xxsubinterpreters as interpreters
        run = interpreters.run_string
    own = interpreters.create()
    run(own, code)
    thread = threading.Thread(target=lambda: run(own, code))
    thread.start()
    thread.join()
    work(1)
    interpreters.destroy(own)
    assert walker.walker_answers(OTHER) > before + 20, "sub-interpreters are not refused"
    before = walker.walker_answers(OTHER)
    seen = walker.walker_answers(WHOLE)
    work(1)
    assert walker.walker_answers(OTHER) == before, "refused without sub-interpreters"
    assert walker.walker_answers(WHOLE) > seen + 10


def daemon():
    # Still running when the interpreter ends.
    while True:
        work(1)


work(5)
before = walker.walker_answers(WHOLE)
work(5)
assert walker.walker_answers(WHOLE) > before + 100, "few allocations were seen"
too_deep()
threads()
forks()
sub_interpreters()
cut = walker.walker_answers(CUT)
print("%d cut" % cut)
# Before 3.11 the interpreter itself may crash then: a thread that wants the GIL looks for
# it in memory that has been freed.
for _ in range(3 if sys.version_info >= (3, 11) else 0):
    threading.Thread(target=daemon, daemon=True).start()
atexit.register(work, 3)
left = [Dying() for _ in range(100)]
sys.exit(1 if cut else 0)
