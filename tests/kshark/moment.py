#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""moment.py DIR: find the place in the recording of make demo for a picture of KernelShark

make demo shows an event of python3. The script prints the event's place on KernelShark's time line
and the pids to plot: this python3 and bash. Most of their functions have names in Debian's files.
"""

import json
import os
import re
import subprocess
import sys

LEFT, RIGHT = 122, 1163		# the time line of a window of 1200 pixels
EVENT = re.compile(r"^python3-(\d+) \[\d+\] \S+ ([\d.]+): ", re.MULTILINE)
SHOW = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../vm/demo-show")


def main():
    directory = sys.argv[1]
    with open(os.path.join(directory, "stat.json"), encoding="utf-8") as f:
        stat = json.load(f)
    shown = subprocess.run([SHOW, directory], stdout=subprocess.PIPE, check=True).stdout.decode()
    pid, time = EVENT.search(shown).groups()
    bash = next(p["pid"] for p in stat["by_process"] if p["comm"] == "bash")
    first, last = stat["first_ts"], stat["last_ts"]
    print(LEFT + int((RIGHT - LEFT) * (float(time) * 1e9 - first) / (last - first)),
          "%s,%d" % (pid, bash))


if __name__ == "__main__":
    main()
