# SPDX-License-Identifier: GPL-2.0
"""Run tests in guests: group them by the machine they want, boot, judge the results.

A boot gets a list of tests and runs as many as it can. A test that kills, hangs or upsets the guest
has failed, and the remaining tests go into another boot. So a run always ends with a result for
every test.

A test that failed may be run once more, alone in a boot of its own, after all others: guests run on
emulated CPUs that a busy host stops at any moment. A test that passes then has passed. Faults that
no busy host explains count at once: a kernel complaint, a wrong frame, lost data.

Most tests wait more than they compute, so several guests can run at the same time. Tests whose
result depends on what else the host does have the option `alone`, and run after the others.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import sys
import threading
import time

import vm as machine

MAX_BOOTS_LOST = 3		# give up on a group after so many boots that ran no test at all
MAX_STALE = 3			# a test may lose so many boots to QEMU
MAX_REPEATED = 10		# more failures are a real fault
MAX_CHUNK = 2400		# seconds of time limits in one boot, if several guests run
# A test's words for a wrong frame and for lost data; check() of tests/lib prints "  | " before them
FINAL = re.compile(r"^(?:  \| )?((?:WRONG|LOST): .*)$", re.M)


def make_name(path):
    """tests/guest/tables/perf.sh is tables-perf; a test in trace/ has only its own name."""
    directory, name = os.path.split(re.sub(r"\.sh$", "", os.path.realpath(path)))
    parent, directory = os.path.split(directory)
    if os.path.basename(parent) != "guest" or directory in ("trace", "arch"):
        return name
    return directory + "-" + name


class Test:
    """One test: where it is, what machine it wants, how it ended."""

    def __init__(self, path, name=None, command=None):
        self.path = os.path.realpath(path)
        self.name = name or make_name(path)
        # The guest runs this: a path there and arguments.
        self.command = command or "/host/tree/" + os.path.relpath(self.path, machine.ROOT)
        self.options = machine.default_options()
        self.verdict = None		# "ok", "FAIL" or "skip"
        self.why = ""
        self.seconds = 0.0
        self.stale = 0			# boots that QEMU has cost it
        self.final = ""			# why a failure counts at once
        self.first = ""			# why it failed before it was repeated
        with open(self.path, errors="replace") as f:
            for line in f.readlines()[:40]:
                found = re.match(r"#\s*vm:\s*(.*)", line)
                if found:
                    machine.parse_options(found.group(1), path, self.options)

    def machine_key(self):
        opt = {k: v for k, v in self.options.items() if k not in ("timeout", "own", "alone")}
        return repr(sorted(opt.items())) + (self.name if self.options["own"] else "")


def died_of_stale_int3(console):
    """Did the guest die of an int3 that is not in its memory?

    The kernel changes its code with an int3 in place of the first byte for a moment. QEMU can run
    that from a translation it should have dropped. The oops shows the bytes in memory: the one in
    front of RIP is not 0xcc then. A CPU would not have trapped. Guests that can load the module
    stale_int3 (tests/guest/modules) survive it.
    """
    try:
        with open(console, errors="replace") as f:
            found = re.search(r"Oops: int3:.*?Code: ([0-9a-f ]+)<", f.read(), re.S)
    except OSError:
        return False
    return bool(found) and not found[1].endswith("cc ")


def remove_path(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


class Runner:
    """Runs tests on one kernel; its files are in build/vm/LABEL/."""

    def __init__(self, kernel, label, slow, shares=(), settings=None):
        self.kernel, self.label, self.slow, self.shares = kernel, label, slow, shares
        self.settings = settings or {}	# environment of the tests, one word each
        self.dir = os.path.join(machine.BUILD, "vm", label)
        self.boots = 0
        self.lock = threading.RLock()	# for boots, and for what is printed together
        self.grace = 60			# seconds the host waits for the guest to end a test
        self.quiet = False		# do not show consoles

    def print_result(self, test):
        with self.lock:
            print("%-4s %s (%.1f s)%s" % (test.verdict, test.name, test.seconds,
                                          ": " + test.why if test.why else ""), flush=True)
            if test.verdict == "FAIL":
                self.show_log(test)

    def log_path(self, test):
        return os.path.join(self.dir, "log", test.name + ".log")

    def read_log(self, test):
        try:
            with open(self.log_path(test), errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def show_log(self, test):
        lines = self.read_log(test).splitlines()
        if len(lines) > 40:
            print("    | ... %d lines before; whole log: %s" %
                  (len(lines) - 40, self.log_path(test)))
        sys.stdout.write("".join("    | " + x + "\n" for x in lines[-40:]))
        sys.stdout.flush()

    def show_console(self, console):
        if not self.quiet:
            sys.stdout.write("  console (%s):\n%s" % (console.path, console.tail()))

    def get_limit(self, test):
        return int(test.options["timeout"] * self.slow)

    def boot(self, tests, repeated=False):
        """One boot for all of TESTS; those it did not get to keep verdict None."""
        with self.lock:
            self.boots += 1
            work = os.path.join(self.dir, "boot-%d.%d" % (os.getpid(), self.boots))
        out = os.path.join(work, "out")
        os.makedirs(os.path.join(out, "log"))
        with open(os.path.join(out, "jobs"), "w") as f:
            for test in tests:
                f.write("%s %d %s\n" % (test.name, self.get_limit(test), test.command))
        settings = dict(self.settings, TEST_REPEATED="1") if repeated else self.settings
        with open(os.path.join(out, "settings"), "w") as f:
            for setting in settings.items():
                f.write("%s=%s\n" % setting)
        opt = dict(tests[0].options)
        if self.label.startswith("debug"):
            opt["mem"] = max(opt["mem"], 2048)
        # The guest ends a test itself; the host waits a little longer before it ends the guest.
        limits = {t.name: self.get_limit(t) + self.grace for t in tests}
        by_name = {t.name: t for t in tests}
        said = set()

        def finish(console):
            """Report the tests that have ended since the last call."""
            for name in console.ended:
                if name in by_name and name not in said:
                    said.add(name)
                    self.judge_test(by_name[name], out, console)

        reason, console = machine.run(self.kernel, opt, out, limits, 120 + sum(limits.values()),
                                      max(limits.values()), self.shares, finish)
        finish(console)
        with self.lock:
            return self.judge_boot(tests, out, reason, console, said)

    def judge_boot(self, tests, out, reason, console, said):
        """Judge the test that a boot ended with; (did a test run?, complaints outside tests)"""
        by_name = {t.name: t for t in tests}
        orphans = [line for job, line in console.splats if job is None]
        victim = by_name.get(console.job) if console.job else None
        ended = reason and victim is not None and victim.verdict is None
        if ended and victim.stale < MAX_STALE and died_of_stale_int3(console.path):
            victim.stale += 1
            print("     %s: the emulated CPU ran an int3 that is not in memory any more, so the "
                  "guest died of QEMU; once more" % victim.name)
        elif ended:
            self.keep_files(out, victim)
            victim.verdict, victim.why = "FAIL", reason
            victim.seconds = time.monotonic() - console.job_since
            self.judge_final(victim, console.dead or any(
                job == victim.name for job, _ in console.splats))
            self.print_result(victim)
            self.show_console(console)
        elif reason or (not said and tests):
            print("     a guest of this kernel ended early: %s" %
                  (reason or "it powered off without running a test"))
            self.show_console(console)
        for line in orphans:
            print("     kernel complaint outside any test: %s" % line)
        sys.stdout.flush()
        return bool(said) or victim is not None, orphans

    def judge_test(self, test, out, console):
        self.keep_files(out, test)
        rc, ms = None, 0
        try:
            with open(os.path.join(out, "results")) as f:
                for line in f:
                    name, code, took = line.split()
                    if name == test.name:
                        rc, ms = int(code), int(took)
        except (OSError, ValueError):
            pass
        test.seconds = ms / 1000
        splats = [line for job, line in console.splats if job == test.name]
        if splats:
            test.verdict, test.why = "FAIL", "the kernel complained: " + splats[0]
        elif rc == 0:
            test.verdict = "ok"
        elif rc == 4:
            test.verdict, test.why = "skip", self.find_skip_reason(test)
        elif rc is None:
            test.verdict, test.why = "FAIL", "it left no result"
        elif rc in (124, 137):
            test.verdict, test.why = "FAIL", "longer than its %d s" % self.get_limit(test)
        else:
            test.verdict, test.why = "FAIL", "exit %d" % rc
        if test.verdict == "skip" and not test.why:
            test.verdict, test.why = "FAIL", "exit 4 (skip) without a line 'SKIP: why'"
        self.judge_final(test, splats)
        self.print_result(test)

    def judge_final(self, test, complaint):
        """Is a failure of this kind one that no second run may excuse?"""
        found = FINAL.search(self.read_log(test))
        if test.verdict == "FAIL" and (complaint or found):
            test.final = "the kernel complained" if complaint else found[1]

    def find_skip_reason(self, test):
        found = re.findall(r"^SKIP:\s*(.+)$", self.read_log(test), re.M)
        return found[-1] if found else ""

    def remove_old_boots(self):
        """Remove the boots of runs that have ended; another run may be going on."""
        for old in glob.glob(os.path.join(self.dir, "boot-*")):
            pid = int(old.rsplit("-", 1)[1].split(".")[0])
            if pid != os.getpid() and not os.path.exists("/proc/%d" % pid):
                shutil.rmtree(old, ignore_errors=True)

    def keep_files(self, out, test):
        """Move what a test left in one boot's directory to the place where people look."""
        for name in ("log/%s.log" % test.name, "files/" + test.name):
            src, dst = os.path.join(out, name), os.path.join(self.dir, name)
            remove_path(dst)
            if os.path.exists(src):
                os.makedirs(os.path.dirname(dst), exist_ok=True)
                os.rename(src, dst)

    def run(self, tests, lanes=1):
        """All TESTS to the end; returns the number of kernel complaints outside any of them.

        lanes: so many guests run at the same time.
        """
        self.remove_old_boots()
        alone = [t for t in tests if t.options["alone"] or lanes == 1]
        chunks = [c for group in self.group_by_machine(t for t in tests if t not in alone)
                  for c in self.split_group(group)]
        # those that may take longest first
        chunks.sort(key=lambda chunk: -sum(self.get_limit(t) for t in chunk))
        pool = concurrent.futures.ThreadPoolExecutor(lanes)
        try:
            running = [pool.submit(self.run_group, chunk) for chunk in chunks]
            ended, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_EXCEPTION)
            stray = sum(each.result() for each in ended)
        finally:
            # An error or Ctrl-C does not wait for guests: they end with this process.
            pool.shutdown(wait=False, cancel_futures=True)
        return stray + sum(self.run_group(group) for group in self.group_by_machine(alone))

    def group_by_machine(self, tests):
        """TESTS, those of the same machine in one list."""
        groups = {}
        for test in tests:
            groups.setdefault(test.machine_key(), []).append(test)
        return list(groups.values())

    def split_group(self, group):
        """GROUP in lists of about the same time, none of which keeps a lane busy for too long."""
        nr = 1 + sum(self.get_limit(t) for t in group) // int(MAX_CHUNK * self.slow)
        return [group[i::nr] for i in range(nr) if group[i::nr]]

    def run_group(self, group, repeated=False):
        """The tests of one machine, in as many boots as that takes; returns what run() returns."""
        stray = lost = 0
        while True:
            left = [t for t in group if t.verdict is None]
            if not left:
                return stray
            if lost >= MAX_BOOTS_LOST:
                for test in left:
                    test.verdict, test.why = "FAIL", "%d boots ran no test" % lost
                    test.final = "no guest of its machine works"
                    self.print_result(test)
                return stray
            progress, orphans = self.boot(left, repeated)
            stray += len(orphans)
            lost = 0 if progress else lost + 1

    def repeat(self, tests):
        """Run those of TESTS that failed once more, each in a boot of its own.

        Returns what run() returns. A test that passes has verdict "ok", and test.first says why it
        failed before.
        """
        for test in tests:
            self.keep_first(test, False)
        failed = [t for t in tests if t.verdict == "FAIL"]
        if len(failed) > MAX_REPEATED:
            print("     %d tests failed, more than %d: none is repeated" %
                  (len(failed), MAX_REPEATED), flush=True)
            return 0
        stray = 0
        for test in failed:
            if test.final:
                print("     %s is not repeated: %s" % (test.name, test.final), flush=True)
                continue
            print("     %s is repeated, alone" % test.name, flush=True)
            test.first = self.find_first_reason(test)
            self.keep_first(test, True)
            test.verdict, test.why = None, ""
            stray += self.run_group([test], True)
            if test.verdict == "skip":
                test.verdict, test.why = "FAIL", "skipped when repeated; first: " + test.first
                self.print_result(test)
        return stray

    def find_first_reason(self, test):
        """Why a test failed, with the first check that failed."""
        found = re.search(r"^FAIL: (.*)$", self.read_log(test), re.M)
        return test.why + (", " + found[1] if found else "")

    def keep_first(self, test, failed):
        """Remove what an earlier run kept as NAME.first; keep what this one FAILED with."""
        for name in ("log/%s.log", "files/%s"):
            path = os.path.join(self.dir, name % test.name)
            first = os.path.join(self.dir, name % (test.name + ".first"))
            remove_path(first)
            if failed and os.path.exists(path):
                os.rename(path, first)
