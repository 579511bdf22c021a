#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mk_dwarf.py DIR: write the inputs of fuzz_dwarf; the tree keeps them in tests/fuzz/corpus/dwarf

The script compiles small programs with gcc and clang in several versions of DWARF, and dwz moves
the common parts of one program to a file of their own. It writes the sections in the form that
fuzz_dwarf.c reads.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

SECTIONS = ["info", "abbrev", "str", "line", "line_str", "ranges", "rnglists", "addr",
            "str_offsets"]
SOURCE = """
static inline __attribute__((always_inline)) int g(int n) { while (n--) h(n); return n; }
static inline __attribute__((always_inline)) int f(int n) { return n > 5 ? g(n) : h(n) + g(-n); }
int a(int n) { if (__builtin_expect(n == 7, 0)) { h(1); __builtin_abort(); }
return f(n) * f(n + 1); }
%s
int main(void) { return a(3); }
"""
BUILDS = {
    "gcc2": ("gcc", "-gdwarf-2"), "gcc3": ("gcc", "-gdwarf-3"), "gcc4": ("gcc", "-gdwarf-4"),
    "gcc5": ("gcc", "-gdwarf-5"), "gcc64": ("gcc", "-g -gdwarf64"),
    "clang4": ("clang", "-gdwarf-4"), "clang5": ("clang", "-gdwarf-5"),
    "split4": ("gcc", "-gdwarf-4 -gsplit-dwarf"), "types": ("gcc", "-g -fdebug-types-section"),
    "cc": ("g++", "-g -x c++"),
}


def read_section(path, name):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["objcopy", "-O", "binary", "--only-section=" + name,
                        "--set-section-flags", name + "=alloc", path, out.name],
                       stderr=subprocess.DEVNULL)
        with open(out.name, "rb") as f:
            return f.read()


def make_seed(path, alt=None):
    parts = [read_section(path, ".debug_" + s) for s in SECTIONS]
    parts += [read_section(alt, ".debug_" + s) if alt else b"" for s in SECTIONS[:3]]
    return b"\0" + b"".join(struct.pack("<H", len(p)) + p for p in parts)


def main():
    to = sys.argv[1]
    os.makedirs(to, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        src = os.path.join(tmp, "s.c")
        for name, (cc, flags) in BUILDS.items():
            extra = ""
            if cc == "g++":
                extra = "namespace n { struct s { int m(int x) { return ::a(x); } }; " \
                    "int k(int x) { s v; return v.m(x); } }"
            with open(src, "w") as f:
                f.write('%sint h(int);\n' % ('extern "C" ' if extra else "") + SOURCE % extra)
            with open(os.path.join(tmp, "h.c"), "w") as f:
                f.write("int h(int n) { return n; }\n")
            out = os.path.join(tmp, name)
            subprocess.run(["gcc", "-c", "-O1", "h.c"], cwd=tmp, check=True)
            # the same bytes wherever it runs
            subprocess.run([cc, "-O2", "-fno-pie", "-fdebug-prefix-map=%s=/fuzz" % tmp,
                            *flags.split(), "s.c", "-x", "none", "h.o", "-no-pie", "-o", name],
                           cwd=tmp, check=True)
            with open(os.path.join(to, name), "wb") as f:
                f.write(make_seed(out))
        if shutil.which("dwz"):
            a, b = os.path.join(tmp, "a"), os.path.join(tmp, "b")
            types = "".join("struct t%d { int first%d, second%d; } v%d;\n" % (i, i, i, i)
                            for i in range(20))
            with open(src, "w") as f:
                f.write("int h(int);\n" + types + SOURCE % "")
            for out in a, b:
                subprocess.run(["gcc", "-O2", "-g", "-no-pie", "-fdebug-prefix-map=%s=/fuzz" % tmp,
                                "s.c", "h.o", "-o", out], cwd=tmp, check=True)
            subprocess.run(["dwz", "-l", "none", "-L", "none", "-m", "c", "-M", "c", "a", "b"],
                           cwd=tmp, check=True)
            with open(os.path.join(to, "dwz"), "wb") as f:
                f.write(make_seed(a, os.path.join(tmp, "c")))


if __name__ == "__main__":
    main()
