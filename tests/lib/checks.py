# SPDX-License-Identifier: GPL-2.0
"""checks.py: the Python tests count and print their checks with these functions

check() prints each check that fails; with VERBOSE it prints each check that passes, too. finish()
prints the sum that scripts/tally reads and returns the exit status. A program that runs tests adds
their results to count. A test with threads calls check() in one thread only.

    sys.path.insert(0, os.path.join(ROOT, "tests/lib"))
    from checks import check, finish, skip
"""

VERBOSE = False
count = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, ok, why=""):
    """Count a check; why is printed below the name if it fails. Returns whether it is right."""
    count["passed" if ok else "failed"] += 1
    if not ok:
        print("FAIL: %s%s" % (name, "\n    " + str(why).replace("\n", "\n    ") if why else ""),
              flush=True)
    elif VERBOSE:
        print("ok    " + name, flush=True)
    return bool(ok)


def skip(name, why):
    count["skipped"] += 1
    print("SKIP: %s: %s" % (name, why), flush=True)


def finish():
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % count, flush=True)
    return 1 if count["failed"] else 0
