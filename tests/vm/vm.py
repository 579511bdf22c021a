# SPDX-License-Identifier: GPL-2.0
"""One virtual machine: start it, watch it, end it.

A guest boots a kernel image and the cached Debian disk, which it never writes (snapshot=on).
Through 9p it sees the tree read-only and one directory of the host read-write. It runs the jobs
that it finds in that directory, and powers off. Three other events end a guest, each with a
sentence that names the event:

  panic     the console shows that the kernel died
  silence   neither the console nor the shared directory changed for `idle` seconds
  timeout   the whole boot, or one job, took longer than allowed

A kernel complaint (WARNING, lockdep, KASAN...) on the console does not end the guest by itself. The
complaint is reported with the job that was running, and a job that caused a complaint has failed.

KVM is used if a probe boots a guest with KVM in reasonable time; the answer is kept until the host
reboots. Everything works without KVM. Machines other than amd64's are emulated; the kernel image
determines the machine.

A kernel is an image, the build directory of a kernel, or a directory that scripts/stock-kernel
has made.
"""

import ctypes
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
CACHE = os.environ.get("TRACE_USTACK_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "trace-ustack")
KVM_PROBE = os.path.join(CACHE, "kvm-probe.json")
BUILD = os.path.realpath(os.environ.get("O") or os.path.join(ROOT, "build"))
# loaded here: a child of a program with threads must not load it
LIBC = ctypes.CDLL(None)

# By Debian's name of the architecture: where a kernel's build directory has its image, the machine,
# its console, how disks and shares are attached ("pci" or "ccw"), and options that only it needs.
ARCHES = {
    "amd64": {"image": "arch/x86/boot/bzImage", "machine": "q35,usb=off", "bus": "pci",
              "console": "ttyS0", "append": "tsc=reliable no_timer_check"},
    "s390x": {"image": "arch/s390/boot/bzImage", "machine": "s390-ccw-virtio", "bus": "ccw",
              "console": "ttysclp0", "append": ""},
    "arm64": {"image": "arch/arm64/boot/Image", "machine": "virt", "bus": "pci",
              "console": "ttyAMA0", "append": ""},
}

# In a directory of scripts/stock-kernel, the image, next to the modules that it needs to mount a
# disk, and the name of the architecture.
STOCK, INITRAMFS, STOCK_ARCH = "vmlinuz", "initramfs", "arch"

# Lines that a healthy kernel never prints. The first group ends the boot.
DEAD = re.compile(r"Kernel panic|end Kernel panic|Attempted to kill init")
SPLAT = re.compile(
    r"\b(BUG: |WARNING: |KASAN: |KFENCE: |UBSAN: |Oops: |ODEBUG: |INFO: task .* blocked for|"
    r"possible circular locking|possible recursive locking|inconsistent lock state|"
    r"suspicious RCU usage|rcu: INFO: rcu_|detected stall|general protection fault|"
    r"[Uu]nable to handle|Internal error: |[a-z ]+: [0-9a-f]{4} ilc:\d \[#|Kernel panic|"
    r"bad unlock balance|held lock freed|lock held when returning|"
    r"refcount_t: |list_(add|del) corruption|scheduling while atomic)")
# Complaints about the emulated machine, not about the kernel under test.
HARMLESS = re.compile(r"WARNING: .*(Spectre|mitigation|RETBleed)|x86/cpu: |MTRR")
KMSG = re.compile(r"^\[ *\d+\.\d+\](\[[^\]]*\])? ")
MARK = re.compile(r"@@ustack (start|end) (\S+)")


class Failure(Exception):
    """The guest could not be run at all; the text is one sentence for the user."""


def complains(line):
    """Is this line of a console a complaint of the kernel under test?"""
    return bool(KMSG.match(line) and SPLAT.search(line) and not HARMLESS.search(line))


def default_options():
    return {"cpus": 2, "mem": 1024, "append": "", "icount": "", "timeout": 300, "own": False,
            "alone": False}


def parse_options(words, where, options=None):
    """Options of a `# vm:` line: name=value words and the bare words `own`, `alone`."""
    opt = options or default_options()
    for word in shlex.split(words):
        name, sep, value = word.partition("=")
        if name not in opt:
            raise Failure("%s: unknown vm option '%s'; known: %s" % (where, name, " ".join(opt)))
        if isinstance(opt[name], bool):
            opt[name] = value not in ("0", "no") if sep else True
        elif isinstance(opt[name], int):
            if not value.isdigit() or not int(value):
                raise Failure("%s: vm option %s wants a number, not '%s'" % (where, name, value))
            opt[name] = int(value)
        else:
            opt[name] = value if sep else "1"
    if opt["icount"] == "1":
        opt["icount"] = "shift=0,sleep=off"
    return opt


def qemu(arch):
    return made_by("fetch-qemu", arch, "a QEMU to run guests with")


def made_by(script, arch, what):
    """The path that a script of scripts/ prints after making something in the cache."""
    made = subprocess.run([os.path.join(ROOT, "scripts", script), "--arch=" + arch],
                          stdout=subprocess.PIPE)
    if made.returncode:
        raise Failure("%s could not be had (see above)" % what)
    return made.stdout.decode().strip()


def kernel_path(given=None):
    """The kernel image to boot, or an explanation of how to get one."""
    path = given or os.environ.get("KERNEL")
    if not path:
        made = subprocess.run([os.path.join(ROOT, "scripts", "build-kernel"), "--path",
                               os.environ.get("KVARIANT") or "patched"], stdout=subprocess.PIPE)
        path = made.stdout.decode().strip()
    if os.path.isdir(path):
        images = [os.path.join(path, i) for i in [a["image"] for a in ARCHES.values()] + [STOCK]]
        path = next((i for i in images if os.path.isfile(i)), images[0])
    if not os.path.isfile(path):
        raise Failure("there is no kernel image at '%s'; run make kernel" % path)
    return os.path.realpath(path)


def arch_of(kernel):
    """Whose kernel image this is, by its place in a build directory, or by what stock-kernel says;
    amd64's otherwise.
    """
    name = os.path.join(os.path.dirname(kernel), STOCK_ARCH)
    if os.path.basename(kernel) == STOCK and os.path.isfile(name):
        with open(name) as f:
            return f.read().strip()
    return next((name for name, a in ARCHES.items() if kernel.endswith("/" + a["image"])), "amd64")


def image(arch):
    given = os.environ.get("GUEST_IMAGE" if arch == "amd64" else "GUEST_IMAGE_" + arch.upper())
    return given or made_by("mkimage", arch, "the guest image")


def boot_id():
    try:
        with open("/proc/sys/kernel/random/boot_id") as f:
            return f.read().strip()
    except OSError:
        return "unknown"


def accelerator(kernel, opt):
    """["-accel", ..., "-cpu", ...] for this boot."""
    threads = "multi" if opt["cpus"] > 1 and not opt["icount"] else "single"
    tcg = ["-accel", "tcg,thread=" + threads, "-cpu", "max"]
    if opt["icount"] or os.environ.get("ACCEL") == "tcg" or arch_of(kernel) != "amd64":
        return tcg
    model = probe_kvm(kernel)
    return ["-accel", "kvm", "-cpu", model] if model else tcg


PROBE = threading.Lock()


def probe_kvm(kernel):
    """find_kvm() by one thread at a time: the others find what it stored."""
    with PROBE:
        return find_kvm(kernel)


def read_kvm_probe():
    """What find_kvm() has stored since the host booted: {"model": NAME or None}; None: nothing."""
    try:
        with open(KVM_PROBE) as f:
            known = json.load(f)
        return known if known["boot"] == boot_id() and "model" in known else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_kvm(kernel):
    """The CPU model KVM boots our kernel with, or None; asked once per host boot and kernel.

    A /dev/kvm that opens proves little: nested and paravirtual hosts refuse some models and run
    others thousands of times slower than TCG. So the probe boots the kernel until it starts its
    first process, within a few seconds.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return None
    known = read_kvm_probe()
    if known:
        return known["model"]
    found = None
    for model in ("host", "qemu64"):
        cmd = [qemu("amd64"), "-accel", "kvm", "-cpu", model, "-M", "q35", "-m", "512", "-smp", "2",
               "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot",
               "-kernel", kernel, "-append", "console=ttyS0 panic=-1"]
        try:
            # No disk: a kernel that works panics for want of one, and the reset ends qemu.
            run = subprocess.run(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, timeout=8)
        except subprocess.TimeoutExpired:
            continue
        if b"Unable to mount root" in run.stdout or b"No working init" in run.stdout:
            found = model
            break
    os.makedirs(CACHE, exist_ok=True)
    tmp = KVM_PROBE + ".%d" % os.getpid()
    with open(tmp, "w") as f:
        json.dump({"boot": boot_id(), "model": found}, f)
    os.rename(tmp, KVM_PROBE)
    return found


def command(kernel, opt, out, serial, extra_shares=()):
    """The qemu command line of one boot."""
    arch = arch_of(kernel)
    machine = ARCHES[arch]
    cmd = [qemu(arch)] + accelerator(kernel, opt)
    cmd += ["-M", machine["machine"], "-m", str(opt["mem"]), "-smp", str(opt["cpus"]),
            "-display", "none", "-vga", "none", "-nic", "none", "-no-reboot", "-nodefaults",
            "-kernel", kernel,
            "-drive", "file=%s,if=none,id=root,format=raw,snapshot=on,cache=unsafe" % image(arch),
            "-device", "virtio-blk-%s,drive=root" % machine["bus"]]
    initramfs = os.path.join(os.path.dirname(kernel), INITRAMFS)
    if os.path.basename(kernel) == STOCK and os.path.isfile(initramfs):
        cmd += ["-initrd", initramfs]
    cmd += serial
    if opt["icount"]:
        cmd += ["-icount", opt["icount"]]
    shares = [("tree", ROOT, True), ("out", out, False)] + list(extra_shares)
    if BUILD != os.path.join(ROOT, "build"):
        os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
        shares.append(("build", BUILD, True))
    for tag, path, readonly in shares:
        cmd += ["-fsdev", "local,id=%s,path=%s,security_model=none,multidevs=remap%s" %
                (tag, path.replace(",", ",,"), ",readonly=on" if readonly else ""),
                "-device", "virtio-9p-%s,fsdev=%s,mount_tag=%s" % (machine["bus"], tag, tag)]
    # Counted instructions make a clock of 1 GHz, too slow to calibrate delays against for minutes.
    lpj = "lpj=4000000" if opt["icount"] else ""
    # Emulated CPUs of a busy host stand still for seconds: the stall detectors must know.
    cmd += ["-append", " ".join([
        "console=%s root=/dev/vda rw init=/sbin/ustack-init panic=-1 loglevel=6" %
        machine["console"], machine["append"], "random.trust_cpu=on watchdog_thresh=60",
        "rcupdate.rcu_cpu_stall_timeout=180 sysctl.kernel.hung_task_timeout_secs=240",
        "ustack.shares=%s" % ",".join(
            s[0] for s in shares), lpj, opt["append"]]).strip()]
    return cmd


class Console:
    """The console log as it grows, cut into lines, with the complaints found in it."""

    def __init__(self, path):
        self.path = path
        self.pos = 0
        self.rest = ""
        self.job = None
        self.job_since = None
        self.dead = None
        self.splats = []		# (job, line)
        self.ended = []

    def poll(self):
        """Read what is new; true if anything was."""
        try:
            with open(self.path, "rb") as f:
                f.seek(self.pos)
                new = f.read()
        except OSError:
            return False
        if not new:
            return False
        self.pos += len(new)
        lines = (self.rest + new.decode("utf-8", "replace")).replace("\r", "").split("\n")
        self.rest = lines.pop()
        for line in lines:
            self.line(line)
        return True

    def line(self, line):
        mark = MARK.search(line)
        if mark:
            if mark.group(1) == "start":
                self.job, self.job_since = mark.group(2), time.monotonic()
            else:
                self.ended.append(mark.group(2))
                self.job = None
            return
        if DEAD.search(line):
            self.dead = self.dead or line
        if complains(line):
            self.splats.append((self.job, KMSG.sub("", line)))

    def tail(self, count=40):
        """The last lines, half of them from the first complaint on if it is further up."""
        try:
            with open(self.path, errors="replace") as f:
                lines = f.readlines()
            first = next((n for n, x in enumerate(lines) if complains(x)), len(lines))
            if first < len(lines) - count:
                half = count // 2
                lines = lines[first:first + half] + ["...\n"] + lines[-half:]
            else:
                lines = lines[-count:]
            return "".join("    | " + x for x in lines)
        except OSError:
            return "    | (no console output)\n"


def die_with_parent():
    """In the child: end the guest if the runner is killed."""
    pr_set_pdeathsig = 1
    LIBC.prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)


def newest(path):
    """A value that changes with the shared directory: the sizes of all files in it."""
    total = 0
    for base, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(os.path.join(base, name)).st_size + 1
            except OSError:
                pass
    return total


def run(kernel, opt, out, jobs_timeout, total_timeout, idle=150, shares=(), on_poll=None):
    """Boot, let the guest do the jobs in OUT, end. Returns (reason or None, Console).

    jobs_timeout: name -> seconds for each job. reason is None after an orderly power-off.
    """
    log = os.path.join(os.path.dirname(out), "console.log")
    if os.path.exists(log):
        os.unlink(log)
    cmd = command(kernel, opt, out, ["-monitor", "none", "-serial", "file:" + log], shares)
    with open(os.path.join(os.path.dirname(out), "qemu.cmd"), "w") as f:
        f.write(" ".join(shlex.quote(c) for c in cmd) + "\n")
    err = open(os.path.join(os.path.dirname(out), "qemu.log"), "w+b")
    proc = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                            start_new_session=True, preexec_fn=die_with_parent)
    console = Console(log)
    start = seen = time.monotonic()
    size, reason = -1, None
    try:
        while proc.poll() is None:
            time.sleep(0.2)
            now = time.monotonic()
            if console.poll():
                seen = now
            if now - seen > 5:
                grown = newest(out)
                if grown != size:
                    size, seen = grown, now
            if on_poll:
                on_poll(console)
            if console.dead:
                time.sleep(3)
                console.poll()
                reason = "panic: " + KMSG.sub("", console.dead)
            elif now - seen > idle:
                reason = "silence: nothing on the console or in its directory for %d s" % idle
            elif now - start > total_timeout:
                reason = "timeout: the guest ran longer than %d s" % total_timeout
            elif console.job and now - console.job_since > jobs_timeout.get(
                    console.job, total_timeout):
                reason = "timeout: %s ran longer than %d s" % (
                    console.job, jobs_timeout.get(console.job, total_timeout))
            if reason:
                break
    finally:
        if proc.poll() is None:
            os.killpg(proc.pid, signal.SIGKILL)
        proc.wait()
        err.close()
    console.poll()
    if not reason and console.dead:
        reason = "panic: " + KMSG.sub("", console.dead)
    if not reason and (proc.returncode or console.job):
        with open(err.name) as f:
            said = f.read().strip()[-300:]
        reason = "qemu ended with %d: %s" % (proc.returncode, said) if said or proc.returncode \
            else "the guest powered off while %s ran" % console.job
    return reason, console


def shell(kernel, opt, cmd=None, keep=None):
    """A guest on this terminal. With CMD it runs that and powers off; returns its exit code.

    keep: a directory for what the command leaves in /host/out/files.
    """
    work = os.path.join(BUILD, "vm", "run.%d" % os.getpid() if cmd else "shell")
    out = os.path.join(work, "out")
    os.makedirs(out, exist_ok=True)
    for stale in glob.glob(os.path.join(out, "job*")):
        os.unlink(stale)
    if cmd is None:
        with open(os.path.join(out, "job-shell"), "w") as f:
            f.write("%s %s\n" % shutil.get_terminal_size((100, 40)))
        sys.stderr.write("guest shell: /host/tree is the tree, /host/out is %s; "
                         "'exit' or Ctrl-A x ends it\n" % out)
        sys.stderr.flush()
        return subprocess.call(command(kernel, opt, out, ["-serial", "mon:stdio"]))
    with open(os.path.join(out, "job-command"), "w") as f:
        f.write(cmd + "\n")
    printed = 0
    path = os.path.join(out, "command.out")

    def show(_):
        nonlocal printed
        if os.path.exists(path):
            with open(path, "rb") as f:
                f.seek(printed)
                new = f.read()
            printed += len(new)
            sys.stdout.buffer.write(new)
            sys.stdout.flush()

    reason, console = run(kernel, opt, out, {}, opt["timeout"] + 60, on_poll=show)
    show(None)
    if keep and os.path.isdir(os.path.join(out, "files")):
        shutil.copytree(os.path.join(out, "files"), keep, dirs_exist_ok=True)
    for _, line in console.splats:
        sys.stderr.write("guest kernel: %s\n" % line)
    rc = 1
    try:
        with open(os.path.join(out, "command.rc")) as f:
            rc = int(f.read())
    except (OSError, ValueError):
        reason = reason or "the guest ended without running the command"
    if reason:
        sys.stderr.write("guest: %s; console log %s:\n%s" % (reason, console.path, console.tail()))
        return 1
    if console.splats:
        sys.stderr.write("guest: the kernel complained; console log: %s\n" % console.path)
        return rc or 1
    shutil.rmtree(work, ignore_errors=True)
    return rc
