#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
look.py - find things in a picture of KernelShark, a binary PPM on standard input

    look.py count RRGGBB            how many pixels have this colour
    look.py wait LINE STACK         the longest level line of colour LINE that ends in a mark of
                                    colour STACK: "X Y" of its request, "X Y" of the stack
    look.py column X RRGGBB         the longest vertical run of this colour at X, give or take 2
    look.py band RRGGBB             rows of which more than half are this colour: a selected row
"""
import sys


class Picture:
    def __init__(self, data):
        head, at = [], 0
        while len(head) < 4:
            end = at
            while data[end:end + 1].strip():
                end += 1
            head.append(data[at:end])
            at = end + 1
        assert head[0] == b"P6" and head[3] == b"255", "no 8 bit PPM"
        self.width, self.height = int(head[1]), int(head[2])
        self.data = data[at:]

    def row(self, y):
        at = y * self.width * 3
        line = self.data[at:at + self.width * 3]
        return [line[i:i + 3] for i in range(0, len(line), 3)]


def find_runs(row, colour):
    """(first, one after the last) of each run of a colour in a row."""
    x = 0
    while x < len(row):
        if row[x] != colour:
            x += 1
            continue
        first = x
        while x < len(row) and row[x] == colour:
            x += 1
        yield first, x


def find_wait(pic, line, stack):
    best = None
    for y in range(pic.height):
        row = pic.row(y)
        for first, end in find_runs(row, line):
            if stack in row[end:end + 3] and (not best or end - first > best[2] - best[1]):
                best = (y, first, end)
    if not best:
        return None
    y, first, end = best
    row = pic.row(y)
    request = first
    for x in range(first, -1, -1):      # leftwards across the time on the line, to its start
        if row[x] == stack:
            break
        if row[x] == line:
            request = x
    # the square's middle
    last = end + 3
    while last < len(row) and row[last] == stack:
        last += 1
    return request + 3, y, (end + 1 + last) // 2, y


def find_column(pic, x, colour):
    best = 0
    for cx in range(max(0, x - 2), min(pic.width, x + 3)):
        run = 0
        for y in range(pic.height):
            at = (y * pic.width + cx) * 3
            run = run + 1 if pic.data[at:at + 3] == colour else 0
            best = max(best, run)
    return best


def main():
    what, args = sys.argv[1], sys.argv[2:]
    pic = Picture(sys.stdin.buffer.read())
    if what == "count":
        colour = bytes.fromhex(args[0])
        print(sum(pic.row(y).count(colour) for y in range(pic.height)))
    elif what == "wait":
        found = find_wait(pic, bytes.fromhex(args[0]), bytes.fromhex(args[1]))
        print(*(found or ()))
    elif what == "column":
        print(find_column(pic, int(args[0]), bytes.fromhex(args[1])))
    elif what == "band":
        colour = bytes.fromhex(args[0])
        print(sum(pic.row(y).count(colour) * 2 > pic.width for y in range(pic.height)))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
