# SPDX-License-Identifier: GPL-2.0
"""ends REPORT MIN: tasks that end in tests/guest/prog/leave.c have the stacks of their ends.

REPORT is the output of trace-ustack report --json. At least MIN events of children of vfork(), and
MIN of threads, must be in do_exit() and have the stack of end_task(), complete. No such event may
have another stack.
"""

import json
import sys


def main(report, wanted):
    ends = {("syscall", "end_task", "fork_child"): 0, ("syscall", "end_task", "thread_ends"): 0}
    wrong = []
    for line in open(report):
        event = json.loads(line)
        kernel = [frame.get("func") for frame in event.get("kernel") or []]
        user = [frame.get("func") for frame in event.get("user") or []]
        # the other tasks end elsewhere
        if "do_exit" not in kernel or event["comm"] != "leave" or user[:1] != ["syscall"]:
            continue
        if tuple(user[:3]) in ends and not event.get("user_flags"):
            ends[tuple(user[:3])] += 1
        else:
            wrong.append((event["event"], user, event.get("user_flags")))
    print("%s%s right, %d wrong %s" % ("WRONG: " if wrong else "", list(ends.values()), len(wrong),
                                       wrong[:2]))
    return bool(wrong) or min(ends.values()) < wanted


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
