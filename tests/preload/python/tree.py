# SPDX-License-Identifier: LGPL-2.1-or-later
# Calls of each kind, and at the end of each the walker's stack compared with Python's own,
# both as it is and as it was at an allocation.  Runs under programs/python.plugin.
import asyncio
import collections
import contextlib
import ctypes
import functools
import gc
import json
import os
import re
import signal
import sys
import threading
import weakref

walker = ctypes.PyDLL(sys.argv[1])
here, taken = walker.walker_here, walker.walker_taken
here.restype = taken.restype = ctypes.c_char_p
arm = walker.walker_arm
arm.argtypes = [ctypes.c_size_t]
arm.restype = None
LARGE = 1 << 20
WHOLE, CUT, IDLE, OTHER = range(4)

checked = collections.Counter()
failures = []


def truth():
    frame, frames = sys._getframe(1), []
    while frame is not None:
        code = frame.f_code
        frames.append((getattr(code, "co_qualname", code.co_name), code.co_filename,
                       frame.f_lineno or 0, code.co_firstlineno))
        frame = frame.f_back
    return frames


def parse(text):
    answer, *lines = text.decode("utf-8", "surrogateescape").split("\n")
    return int(answer), [line.rsplit("|", 4) for line in lines]


def same(seen, true):
    name, file, line, first, _ = seen
    return (name == true[0][:len(name)] and true[1].endswith(file)
            and (name == true[0] or len(name.encode()) > 180)
            and (file == true[1] or len(file.encode()) > 300)
            and int(line) == true[2] and int(first) == true[3])


def compare(kind, text, true):
    try:
        answer, seen = parse(text)
    except ValueError:
        answer, seen = text, []
    checked[kind] += 1
    if answer != WHOLE or len(seen) != len(true) or not all(map(same, seen, true)):
        failures.append("%s: answer %s\n  seen %s\n  true %s" % (kind, answer, seen, true))


# What each place calls, in one line so that all of it has the same line number.
def check(kind, walked, _armed, _block, at_allocation, true):
    compare(kind, walked, true)
    compare(kind + ", allocating", at_allocation, true)


def plain(kind):
    check(kind, here(), arm(LARGE), bytearray(LARGE), taken(), truth())


class Things:
    def method(self):
        plain("method")

    @classmethod
    def of_class(cls):
        plain("class method")

    @staticmethod
    def static():
        plain("static method")

    @property
    def attribute(self):
        return plain("property")

    def __getattr__(self, name):
        plain("__getattr__")
        return 1

    def __len__(self):
        plain("__len__")
        return 1

    def __lt__(self, other):
        plain("__lt__")
        return True

    class Inner:
        def deep(self):
            plain("inner class")


class Dying:
    def __del__(self):
        plain("__del__")


def closure(kind):
    def inside():
        check(kind, here(), arm(LARGE), bytearray(LARGE), taken(), truth())
    return inside


def decorator(function):
    @functools.wraps(function)
    def around(*args, **kwargs):
        return function(*args, **kwargs)
    return around


@decorator
@decorator
def decorated(*args, **kwargs):
    check("decorator", here(), arm(LARGE), bytearray(LARGE), taken(), truth())


def generator(depth):
    if depth > 0:
        yield from generator(depth - 1)
    check("generator", here(), arm(LARGE), bytearray(LARGE), taken(), truth())
    yield depth
    try:
        yield
    finally:
        plain("generator closed")


def thrown_at():
    try:
        yield
    except KeyError:
        plain("generator thrown at")
        check("thrown at", here(), arm(LARGE), bytearray(LARGE), taken(), truth())
        yield


def delegating():
    check("generator that delegates", here(), arm(LARGE), bytearray(LARGE), taken(), truth())
    yield from thrown_at()


@contextlib.contextmanager
def context():
    plain("context entered")
    yield
    plain("context left")


async def awaited(depth):
    if depth > 0:
        await awaited(depth - 1)
    else:
        await asyncio.sleep(0)
    check("coroutine", here(), arm(LARGE), bytearray(LARGE), taken(), truth())


async def stream():
    for i in range(2):
        plain("asynchronous generator")
        yield i


async def tasks():
    await asyncio.gather(awaited(3), awaited(1))
    async for _ in stream():
        plain("async for")
    plain("async comprehension %s" % [i async for i in stream()])


def raising(depth):
    if depth > 0:
        try:
            raising(depth - 1)
        finally:
            plain("finally")
    else:
        raise ValueError


def exceptions():
    try:
        raising(3)
    except ValueError:
        plain("except")
        try:
            raise KeyError
        except KeyError:
            plain("except in except")


def recursion(depth):
    if depth > 0:
        return recursion(depth - 1)
    plain("recursion")


def many_variables(depth):
    # A frame of its own size, so that chunks of the stack end elsewhere.
    a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = depth  # noqa
    if depth > 0:
        return many_variables(depth - 1) + a
    plain("large frames")
    return 0


def comprehensions():
    [check("list comprehension", here(), arm(LARGE), bytearray(LARGE), taken(), truth()) for _ in range(1)]
    {check("set comprehension", here(), arm(LARGE), bytearray(LARGE), taken(), truth()) for _ in range(1)}
    list(check("generator expression", here(), arm(LARGE), bytearray(LARGE), taken(), truth()) for _ in "1")


def callbacks():
    sorted([2, 1], key=lambda x: plain("sorted") or x)
    list(map(lambda x: plain("map"), [1]))
    functools.reduce(lambda x, y: plain("reduce"), [1, 2, 3])
    re.sub("a", lambda match: plain("re.sub") or "b", "a")
    json.dumps(object(), default=lambda x: plain("json") or 1)
    functools.partial(plain, "partial")()
    comparison = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    array = (ctypes.c_int * 2)(2, 1)
    ctypes.PyDLL(None).qsort(array, 2, 4, comparison(lambda a, b: plain("qsort") or 0))
    ctypes.CDLL(None).qsort(array, 2, 4, comparison(lambda a, b: plain("qsort, GIL released") or 0))


def long_lines(count):
    # Many lines, far apart, and long code.
    source = ["def long(plain):"]
    for i in range(count):
        source += ["    x = %d" % i] + [""] * (i % 300)
    source += ["    plain('long code')", "    return x"]
    names = {}
    exec(compile("\n".join(source), "long.py", "exec"), names)
    names["long"](plain)


def odd_names():
    for file in ("a.py", "é.py", "файл.py", "\U0001f40d.py", "d" * 400 + "/ж.py",
                 "byte\udcff.py", ""):
        for name in ("f", "é", "имя", "名前", "\U00020000", "n" * 300):
            source = "def %s(plain):\n  plain('odd name')\n%s(plain)" % (name, name)
            exec(compile(source, file, "exec"), {"plain": plain})


def entries():
    _, seen = parse(here())
    own = seen[0][4]
    _, called = parse(sorted([1], key=lambda x: 0) and by_call())
    by_c = []
    sorted([1], key=lambda x: by_c.append(parse(here())[1]) or x)
    new = sys.version_info >= (3, 11)
    compare_flags = (called[0][4] == ("0" if new else "1"), by_c[0][0][4] == "1",
                     seen[-1][4] == "1")
    checked["entries"] += 1
    if not all(compare_flags):
        failures.append("entries: %s %s" % (own, compare_flags))


def by_call():
    return here()


class Meta(type):
    def __new__(meta, name, bases, namespace):
        plain("metaclass")
        return super().__new__(meta, name, bases, namespace)


def classes():
    class Made(metaclass=Meta):
        plain("class body")


def threads():
    def run():
        plain("thread")
        recursion(40)
        list(generator(2))
    running = [threading.Thread(target=run) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def signals():
    signal.signal(signal.SIGUSR1, lambda number, frame: plain("signal handler"))
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.raise_signal(signal.SIGUSR1)


def released():
    # Called without the GIL: there is nothing to walk.
    without = ctypes.CDLL(sys.argv[1]).walker_here
    without.restype = ctypes.c_char_p
    checked["GIL released"] += 1
    if parse(without()) != (IDLE, []):
        failures.append("GIL released: %s" % without())


def tracing():
    sys.settrace(lambda frame, event, argument: None)
    plain("traced")
    sys.settrace(None)


def collected():
    cycle = Dying()
    cycle.itself = cycle
    del cycle
    gc.collect()
    dying = set()
    reference = weakref.ref(dying, lambda gone: plain("weak reference"))
    del dying
    assert reference() is None


def everything():
    plain("function")
    things = Things()
    things.method()
    Things.of_class()
    Things.static()
    things.attribute
    things.missing
    len(things)
    sorted([things, things])
    Things.Inner().deep()
    closure("closure")()
    (lambda: plain("lambda"))()
    (lambda: check("bare lambda", here(), arm(LARGE), bytearray(LARGE), taken(), truth()))()
    decorated(1, 2, key=3)
    for _ in generator(3):
        plain("for")
    iterator = generator(1)
    next(iterator), next(iterator)
    iterator.close()
    iterator = thrown_at()
    next(iterator)
    iterator.throw(KeyError())
    iterator = delegating()
    next(iterator)
    iterator.throw(KeyError())
    with context():
        plain("with")
    asyncio.run(tasks())
    exceptions()
    recursion(10)
    recursion(700)
    many_variables(600)
    comprehensions()
    callbacks()
    long_lines(20)
    long_lines(3000)
    odd_names()
    entries()
    classes()
    threads()
    signals()
    released()
    tracing()
    Dying()
    collected()
    eval("plain('eval')")
    exec("def f():\n  plain('exec')\nf()")


def forked():
    child = os.fork()
    if child == 0:
        everything()
        os._exit(1 if failures else 0)
    if os.waitpid(child, 0)[1] != 0:
        failures.append("in a forked child")


plain("module")
for _ in range(int(sys.argv[2])):
    everything()
forked()
for failure in failures[:5]:
    print(failure)
print("%d compared, %d differ" % (sum(checked.values()), len(failures)))
sys.exit(1 if failures else 0)
