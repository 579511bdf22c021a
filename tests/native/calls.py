# SPDX-License-Identifier: GPL-2.0
"""calls.py LOG TURNS [PART...]: system calls, and the functions that led to each of them

Makes the file LOG.ready, and waits until LOG.go exists. Then it calls getppid() in functions,
generators, threads and so on, and writes a line of JSON for each call: the thread, and [name, file,
line] of each function, innermost first.
"""
import asyncio
import functools
import json
import os
import sys
import threading
import time

LOG, TURNS, PARTS = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
calls = []


def call():
    frame, stack = sys._getframe(), []
    while frame:
        code = frame.f_code
        stack.append([code.co_qualname, code.co_filename, frame.f_lineno])
        frame = frame.f_back
    stack[0][2] = call.__code__.co_firstlineno + 8
    calls.append([threading.get_native_id(), stack])
    os.getppid()        # in line 8 of the function, from 0 on


def inner(turn):
    call()
    for _ in range(turn % 3):
        call()


def middle(turn):
    inner(turn)
    return (turn +
            turn)


def outer(turn):
    middle(turn)


def functions(turn):
    outer(turn)


def recursion(turn, levels=30):
    if levels:
        return recursion(turn, levels - 1)
    return outer(turn)


def numbers(turn):
    for i in range(3):
        inner(turn)
        yield i


def generators(turn):
    def delegate():
        yield from numbers(turn)
        yield from (middle(i) for i in range(2))

    total = 0
    for i in delegate():
        total += i
    one, two = numbers(turn), numbers(turn + 1)
    for a, b in zip(one, two):
        total += a * b
        call()
    return list(map(middle, numbers(turn)))


class Value:
    def __init__(self, value):
        self.value = value
        call()

    def __lt__(self, other):
        call()
        return self.value < other.value

    def __del__(self):
        call()

    def __eq__(self, other):
        inner(1)
        return self.value == other.value

    @property
    def name(self):
        return functools.reduce(lambda a, b: [call(), b][1], "abc")


def nested(turn):
    values = [Value(i * 7 % 5) for i in range(4)]
    values.sort()
    sorted(range(3), key=lambda i: [outer(i), i][1])
    values[0].name
    values[0] in values[1:]
    any(map(lambda v: call(), values))
    json.loads("[1, 2]", parse_int=lambda s: call())


# The same functions again and again at other lines and with other names: each time other code is at
# the addresses of the code before
SOURCE = """
def function_%d(call):
    call()

class Class:
    def method(self, call):
        function_%d(call)

Class().method(call)
"""


def replaced(turn):
    for i in range(10):
        text = "\n" * (i * 3 % 7) + SOURCE % (i % 4, i % 4)
        exec(compile(text, "/source/%d" % (i % 3), "exec"), {"call": call})


def größe(turn):
    exec(compile("def имя():\n    call()\nимя()", "/tmp/源/文件.py", "exec"), {"call": call})
    exec(compile("call()", "/bytes/\udcff\udce4", "exec"), {"call": call})


def coroutines(turn):
    async def step(i):
        call()
        await asyncio.sleep(0)
        inner(i)

    async def main():
        await step(turn)
        await asyncio.gather(step(1), step(2))
        async for i in letters():
            call()

    async def letters():
        for letter in "ab":
            await step(0)
            yield letter

    asyncio.run(main())


def callbacks(turn):
    import ctypes
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    callback(lambda i: [inner(i), 0][1])(1)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    items = (ctypes.c_int * 4)(3, 1, 2, 0)
    ctypes.CDLL(None).qsort(items, 4, 4, compare(lambda a, b: [call(), 1][1]))


def signals(turn):
    import signal

    def handler(number, frame):
        inner(1)

    signal.signal(signal.SIGUSR1, handler)
    os.kill(os.getpid(), signal.SIGUSR1)
    call()


def threads(turn):
    def body():
        for part in (functions, generators, nested):
            part(turn)

    running = [threading.Thread(target=body) for _ in range(3)]
    for thread in running:
        thread.start()
    functions(turn)
    for thread in running:
        thread.join()


def starting(turn):
    # clone3() and mmap() of a thread's start are in this stack, and in no log
    running = [threading.Thread(target=functions, args=(turn,)) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def main():
    with open(LOG + ".ready", "w"):
        pass
    while not os.path.exists(LOG + ".go"):
        time.sleep(0.01)
    for turn in range(TURNS):
        for part in PARTS:
            globals()[part](turn)
    with open(LOG + ".part", "w", encoding="utf-8", errors="surrogateescape") as log:
        for one in calls:
            log.write(json.dumps(one, ensure_ascii=False) + "\n")
    os.rename(LOG + ".part", LOG)


main()
