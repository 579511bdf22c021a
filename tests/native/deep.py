# SPDX-License-Identifier: GPL-2.0
"""deep.py TURNS: functions, a generator and threads that make a system call of their own

The main thread calls getppid(), the other threads call getuid(), from known functions.
"""
import os
import sys
import threading

TURNS = int(sys.argv[1])


def inner(call):
    call()


def middle(call):
    for i in range(3):
        inner(call)
        yield i


def outer(call):
    for _ in middle(call):
        pass


def recursive(levels, call):
    if levels:
        recursive(levels - 1, call)
    else:
        outer(call)


def thread():
    for _ in range(TURNS):
        outer(os.getuid)


# from Python 3.14 on, a thread's name is that of the task
COMM = open("/proc/self/comm").read().strip()
threads = [threading.Thread(target=thread, name=COMM) for _ in range(2)]
for t in threads:
    t.start()
for _ in range(TURNS):
    recursive(5, os.getppid)
for t in threads:
    t.join()
