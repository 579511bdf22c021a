# SPDX-License-Identifier: GPL-2.0
"""calls_check.py LOG: compare the stacks of a recording with what calls.py has written down

Standard input: the recording as trace-ustack report --json prints it. Prints seven numbers: how
many calls have all functions, how many say that functions are not known or that the stack is not
complete, how many have none, how many are wrong, and how many there are. Then, of all events: how
many stacks have the interpreter and no function (-: it has no symbol), and how many there are of a
thread that starts another one. Each run of functions must also come after the C frame that runs it.
"""
import collections
import json
import sys

EVAL = "_PyEval_EvalFrameDefault"
NOT_KNOWN = "<functions not known>"
calls = collections.defaultdict(list)

# a byte outside of UTF-8 is U+FFFD in JSON
with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
    for line in log:
        tid, stack = json.loads(line)
        calls[tid].append([tuple(one) for one in stack])


def runs_python(frame):
    """Is it the interpreter? GCC names parts of it with a suffix, such as .cold"""
    return (frame.get("func") or "").split(".")[0] == EVAL


def may_run_python(frame):
    """Without a symbol of the interpreter, any code of its file that has no name"""
    return not frame.get("func") and "/python3" in frame.get("file", "")


def functions(frames):
    return [(f["func"], f.get("file", ""), f["line"]) for f in frames if f.get("python")]


def misplaced(frames):
    """A run of functions that does not come after a frame of the interpreter, or one without"""
    runs = runs_python if has_symbol else may_run_python
    for before, frame in zip(frames, frames[1:]):
        if frame.get("python") and not before.get("python") and not runs(before):
            return frame
        if runs_python(before) and not frame.get("python"):
            return before
    return None


stacks = collections.defaultdict(list)
bare = starts = 0
events = [json.loads(line) for line in open(0, encoding="utf-8")]
# An interpreter of tail calls has left its named function before it calls anything
has_symbol = any(runs_python(frame) for event in events
                 if event["event"].endswith("sys_enter_getppid")
                 for frame in event.get("user", []))
for event in events:
    if event["event"].endswith("sys_enter_getppid"):
        stacks[event["tid"]].append(event)
    frames = event.get("user", [])
    names = [name for name, _, _ in functions(frames)]
    starts += event["event"].endswith("sys_enter_clone3") and "Thread.start" in names
    if not names and "incomplete" not in event.get("user_flags", []):
        if any(map(runs_python, frames[1:])):
            bare += 1
            print("BARE:", event["event"], [frame.get("func") for frame in frames])

named = unknown = none = 0
wrong = []
for tid, want in calls.items():
    if len(stacks[tid]) != len(want):
        print("thread %d: %d calls, %d events" % (tid, len(want), len(stacks[tid])))
        continue
    for expected, event in zip(want, stacks[tid]):
        frames = event.get("user", [])
        found = functions(frames)
        names = [name for name, _, _ in found]
        if NOT_KNOWN in names or "incomplete" in event.get("user_flags", []):
            known = names.index(NOT_KNOWN) if NOT_KNOWN in names else len(found)
            if found[:known] == expected[:known]:
                unknown += 1
            else:
                wrong.append("found %s, expected %s" % (found, expected))
        elif not found:
            none += 1
        elif found != expected:
            wrong.append("found %s, expected %s" % (found, expected))
        elif misplaced(frames):
            wrong.append("misplaced: %s in %s" % (misplaced(frames), frames))
        else:
            named += 1
for text in wrong[:5]:
    print("WRONG:", text)
print(named, unknown, none, len(wrong), sum(map(len, calls.values())),
      bare if has_symbol else "-", starts)
