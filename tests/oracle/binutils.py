# SPDX-License-Identifier: GPL-2.0
"""binutils.py: read tables as objdump --sframe prints them, .eh_frame as readelf does; for rows.py

Both become States: "CFA RA FP". Each rule can be written in only one way.

    rsp+16          register + n
    *(rsp+160)      the value stored there
    *(rsp+152)+8    a number above the value stored there
    *(c-8)          the value stored at the CFA - 8
    same            FP is unchanged
    end             in place of all three: there is no caller
    plt0:...        the stubs of a PLT: states by the offset in each 16 bytes
    ?               a rule that no table can express
"""
import array
import bisect
import os
import re
import struct
import subprocess

LOADER = "usr/lib/x86_64-linux-gnu"
DWARF = ("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra").split()

HOLE = 0


class Broken(Exception):
    """The text does not have the known format."""


class Tools:
    def __init__(self, options):
        self.tables = options.tables
        self.root = options.binutils
        self.spoil = options.spoil

    def command(self, name):
        if not self.root:
            return [name]
        lib = os.path.join(self.root, LOADER)
        return [os.path.join(lib, "ld-linux-x86-64.so.2"), "--library-path", lib,
                os.path.join(self.root, "usr/bin/x86_64-linux-gnu-" + name)]

    def lines(self, name, *args):
        with subprocess.Popen(self.command(name) + list(args), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE if name == "objdump" else
                              subprocess.DEVNULL, text=True, errors="replace") as tool:
            yield from tool.stdout
            errors = tool.stderr.read() if tool.stderr else ""
        if tool.returncode or errors:
            raise Broken(f"{name}: exit status {tool.returncode} {errors.strip()}")


class States:
    """Numbers for states, as text: "CFA RA FP", each with one way to write it."""

    def __init__(self):
        self.number = {"": HOLE}
        self.text = [""]

    def of(self, text):
        n = self.number.get(text)
        if n is None:
            n = self.number[text] = len(self.text)
            self.text.append(text)
        return n


# ------------------------------- the table --------------------------------

# sp+-8 is what it prints below SP
OURS = re.compile(r"(\(?)(sp|fp|c|r\d+)\+?(-?\d+)\)?$")
# wide columns have no space between them
WORD = re.compile(r"\(?(?:sp|fp|c|r\d+)\+?-?\d+\)?|RA|undefined|[ufU]")


def our_rule(word):
    """sp+8, c-16, (r10+8) of objdump"""
    m = OURS.match(word)
    if not m:
        raise Broken(f"objdump: a rule of another form: {word}")
    base = {"sp": "rsp", "fp": "rbp", "c": "c"}.get(m[2]) or DWARF[int(m[2][1:])]
    if m[1] or base == "c":
        return f"*({base}{int(m[3]):+})"
    return f"{base}{int(m[3]):+}"


def our_state(words, signal, ra):
    if words == ["RA", "undefined"]:
        return "end"
    cfa, fp, where = words
    # f: where the header says; U: the word that keeps the place of RA in front of FP, the same
    where = ra if where in "fU" else our_rule(where)
    return f"{signal}{our_rule(cfa)} {where} {'same' if fp == 'u' else our_rule(fp)}"


# A type of functions that objdump does not know: flexible, and a CFA may have a third word
FLEX_ADD = 31


def flex_state(words, signal):
    if not words:
        return "end"
    words = iter(words)

    def number(signed):
        return int.from_bytes(next(words, b""), "little", signed=signed)

    def rule(default):
        control = number(False)
        if not control:
            return default
        off = number(True)
        text = f"{DWARF[control >> 3] if control & 1 else 'c'}{off:+}"
        if control & 2:
            text = f"*({text})"
        if control & 4:
            text += f"{number(True):+}"
        return text

    return f"{signal}{rule('?')} {rule('*(c-8)')} {rule('same')}"


def flex_rows(section, at, nr, info):
    """(offset from the function's start, state) of @nr rows at @at"""
    size = 1 << (info & 3)
    for _ in range(nr):
        start, what = int.from_bytes(section[at:at + size], "little"), section[at + size]
        at += size + 1
        nr_words, width = what >> 1 & 15, 1 << (what >> 5 & 3)
        words = [section[at + i * width:at + (i + 1) * width] for i in range(nr_words)]
        at += nr_words * width
        yield start, flex_state(words, "S " if info & 0x80 else "")


def take_own_rows(section, states):
    """The rows of all functions of FLEX_ADD, by start. In @section, these become holes."""
    own, attrs = {}, {}
    nr, = struct.unpack_from("<I", section, 8)
    fdes, rows = (28 + section[7] + off for off in struct.unpack_from("<II", section, 20))
    for at in range(fdes, fdes + 16 * nr, 16):
        start, _, attr = struct.unpack_from("<qII", section, at)
        start, attr = start + at, attr + rows
        nr_rows, info, info2 = struct.unpack_from("<HBB", section, attr)
        if info2 & 31 == FLEX_ADD:
            own[start] = [(start + pc, states.of(state))
                          for pc, state in flex_rows(section, attr + 5, nr_rows, info)]
            attrs[attr] = info
    for attr, info in attrs.items():
        struct.pack_into("<HBB", section, attr, 0, info | 0x80, 0)
    return own


class Table:
    """
    Ascending starts of rows, and their states; a row goes on to the next start. @own: rows of
    functions that objdump does not print
    """

    def __init__(self, tools, path, states, own):
        self.start = array.array("Q")
        self.state = array.array("I")
        self.functions = 0
        self.own = own
        self.read(tools.lines("objdump", "--sframe", path), states)

    def put(self, pc, state):
        if self.start and self.start[-1] > pc:
            raise Broken(f"the table is not sorted at {pc:#x}")
        if self.start and self.start[-1] == pc:
            self.state[-1] = state
        elif not self.state or self.state[-1] != state:
            self.start.append(pc)
            self.state.append(state)

    def finish(self, func, rows, states):
        if not func:
            return
        start, end, signal, masked = func
        self.functions += 1
        rows = self.own.get(start, rows)
        if masked:
            # PLT stubs, 16 bytes each
            rows = [(start, states.of(f"plt{start % 16}:" + ",".join(
                f"{at}:{states.text[n]}" for at, n in rows)))]
        elif not rows:
            # no rows: a function that has no caller, or, if of signals, a hole
            rows = [(start, HOLE if signal else states.of("end"))]
        if rows[0][0] < start or rows[-1][0] >= end:
            raise Broken(f"rows outside of their function at {start:#x}")
        if rows[0][0] > start:
            self.put(start, HOLE)
        for pc, state in rows:
            self.put(pc, state)
        self.put(end, HOLE)

    def read(self, lines, states):
        func, rows, known, ra, signal = None, [], {}, None, ""
        self.put(0, HOLE)
        for line in lines:
            m = re.match(r" *([0-9a-f]{16})  (.*)", line)
            if m and func:
                n = known.get((signal, m[2]))
                if n is None:
                    if WORD.sub("", m[2]).strip():
                        raise Broken(f"objdump: a row of another form: {m[2]}")
                    n = states.of(our_state(WORD.findall(m[2]), signal, ra))
                    known[signal, m[2]] = n
                rows.append((int(m[1], 16), n))
                continue
            m = re.match(r" *func idx \[\d+\]: pc = (0x[0-9a-f]+), size = (\d+) bytes"
                         r'(?:, attr = "(\w+)")?$', line)
            if m:
                self.finish(func, rows, states)
                start, signal, rows = int(m[1], 16), "", []
                if "S" in (m[3] or ""):
                    signal = "S "
                func = [start, start + int(m[2]), signal, False]
            elif "STARTPC[m]" in line:
                func[3] = True
            elif "CFA fixed RA offset:" in line:
                ra = our_rule("c" + line.split(":")[1].strip())
            elif "Version:" in line and "SFRAME_VERSION_3" not in line:
                raise Broken("not a table of version 3")
            elif line.strip() and "STARTPC" not in line and func:
                raise Broken(f"objdump: a line of another form: {line.strip()}")
        self.finish(func, rows, states)


# ------------------------------- .eh_frame --------------------------------

# r1 (rdx): by number and by name
REG_NAME = re.compile(r"\br\d+ \((\w+)\)")
REG_RULE = re.compile(r"([cv])([+-]\d+)$")


def their_rule(word, expression):
    """c-16, v+8, exp, vexp, rN or the name of a register; None: a rule with no words here"""
    m = REG_RULE.match(word)
    if m:
        return f"*(c{int(m[2]):+})" if m[1] == "c" else f"c{int(m[2]):+}"
    if word in ("exp", "vexp"):
        return expression
    return word + "+0" if word in DWARF else None


FROM_CFA = re.compile(r"(\*\()?c([+-]\d+)\)?$")
PLAIN = re.compile(r"(\w+)([+-]\d+)$")


def from_register(rule, cfa):
    """A rule that counts from the CFA as one that counts from the register of the CFA"""
    m, base = FROM_CFA.match(rule or ""), PLAIN.match(cfa or "")
    if not m:
        return rule
    if not base:
        return None
    moved = f"{base[1]}{int(m[2]) + int(base[2]):+}"
    return f"*({moved})" if m[1] else moved


def their_state(cols, words, signal, exps):
    """One row of readelf's. @exps: the expressions of CFA and registers, by column."""
    rules = dict(zip(cols, words))
    if len(cols) != len(words):
        raise Broken(f"readelf: {len(words)} words in {len(cols)} columns")
    where = rules.get("ra", "u")
    if where == "u":
        return "end"
    cfa = exps.get("CFA") if rules["CFA"] == "exp" else rules["CFA"]
    if cfa and cfa.startswith("plt"):
        # the whole row is in it, but for RA and FP, which stubs leave where they are
        if where == "c-8" and rules.get("rbp", "u") in "us":
            return cfa
        return "?"
    where = None if where == "s" else their_rule(where, exps.get("ra"))
    fp = rules.get("rbp", "u")
    fp = "same" if fp in "us" else their_rule(fp, exps.get("rbp"))
    sp = rules.get("rsp", "u")
    if sp not in "us":
        sp = their_rule(sp, exps.get("rsp"))
        # the table's CFA is SP of the caller: a rule from another CFA counts from a register
        if sp != cfa:
            sp, where, fp = (from_register(rule, cfa) for rule in (sp, where, fp))
        cfa = sp
    if not (cfa and where and fp):
        return "?"
    return f"{signal}{cfa} {where} {fp}"


PLT = re.compile(r"DW_OP_breg7 \(rsp\): (\d+); DW_OP_breg16 \([a-z]+\): 0; DW_OP_lit15; DW_OP_and; "
                 r"DW_OP_lit(\d+); DW_OP_ge; DW_OP_lit3; DW_OP_shl; DW_OP_plus$")
ADDRESS = re.compile(r"DW_OP_breg(\d+) \(\w+\): (-?\d+)((?:; DW_OP_plus_uconst: \d+)?)"
                     r"((?:; DW_OP_deref)?)$")


ABOVE = re.compile(r"DW_OP_breg(\d+) \(\w+\): (-?\d+); DW_OP_deref; DW_OP_plus_uconst: (\d+)$")


def expression(text, deref):
    """An expression of readelf as a rule; None if a table cannot have it"""
    m = ABOVE.match(text)
    if m and not deref and int(m[1]) <= 15 and 0 < int(m[3]) < 256:
        return f"*({DWARF[int(m[1])]}{int(m[2]):+})+{int(m[3])}"
    m = PLT.match(text)
    if m and not deref:
        off, limit = int(m[1]), int(m[2])
        return f"plt0:0:rsp{off:+} *(c-8) same,{limit}:rsp{off + 8:+} *(c-8) same"
    m = ADDRESS.match(text)
    if not m or int(m[1]) > 15 or (m[4] and deref):
        return None
    off = int(m[2]) + (int(m[3].split()[-1]) if m[3] else 0)
    rule = f"{DWARF[int(m[1])]}{off:+}"
    return f"*({rule})" if m[4] or deref else rule


class Fde:
    __slots__ = ("offset", "cie", "start", "end", "signal", "cols", "rows")


HEADER = re.compile(r"([0-9a-f]{8,16}) [0-9a-f]{8,16} [0-9a-f]{8,16} (?:(CIE)(?: \"([^\"]*)\")?|"
                    r"FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+))")


def fdes(tools, path):
    """FDEs of .eh_frame, in its order; rows are (pc, the rest of readelf's line)"""
    cies, fde, cie, inside = {}, None, None, False
    for line in tools.lines("readelf", "--debug-dump=frames-interp,no-follow-links", path):
        if line.startswith("Contents of the "):
            inside = line.startswith("Contents of the .eh_frame section")
            continue
        if not inside or line == "\n":
            continue
        if line[16:17] == " " and line[8:9] != " ":
            row = (int(line[:16], 16), line[17:].rstrip())
            if fde:
                fde.rows.append(row)
            else:
                cie.rows.append(row)
            continue
        if line.startswith("   LOC"):
            cols = line.split()[1:]
            if fde:
                fde.cols = cols
            else:
                cie.cols = cols
            continue
        m = HEADER.match(line)
        if not m:
            if "ZERO terminator" in line or "augmentation" in line:
                continue
            raise Broken(f"readelf: a line of another form: {line.strip()}")
        if fde:
            yield fde, cies[fde.cie]
        if m[2]:
            fde = None
            cie = cies[int(m[1], 16)] = Fde()
            cie.offset = int(m[1], 16)
            cie.signal = "S " if "S" in m[3] else ""
            # readelf prints no row of a CIE without instructions
            cie.cols, cie.rows = ["CFA", "ra"], [(0, "none u")]
            continue
        fde = Fde()
        fde.offset, fde.cie, fde.rows, fde.cols = int(m[1], 16), int(m[4], 16), [], None
        fde.start, fde.end = int(m[5], 16), int(m[6], 16)
    if fde:
        yield fde, cies[fde.cie]


def states_of(fde, cie, known, states, exps):
    """(pc, state) for each row of the FDE; None if an expression is in the way"""
    # an FDE of nothing but nops has no rows: those of its CIE
    cols = fde.cols or cie.cols
    rows = fde.rows or [(fde.start, cie.rows[-1][1])]
    key = cie.signal + " ".join(cols)
    memo = known.setdefault(key, {})
    result = []
    for pc, rest in rows:
        n = memo.get(rest)
        if n is None:
            by_col = None
            if "exp" in rest:
                if exps is None:
                    return None
                by_col = exps_at(exps, pc)
            words = REG_NAME.sub(r"\1", rest).split()
            n = states.of(their_state(cols, words, cie.signal, by_col or {}))
            if by_col is None:
                memo[rest] = n
        if result and result[-1][0] == pc:
            result[-1] = (pc, n)
        else:
            result.append((pc, n))
    return result


def exps_at(exps, pc):
    """Expressions that hold at @pc: of the last set of them that begins there or before"""
    at = bisect.bisect_right([start for start, _ in exps], pc)
    return exps[at - 1][1] if at else {}


OPERATION = re.compile(r"  (DW_CFA_\w+)(?::? (.*))?$")


def run_expressions(lines, start, first):
    """The instructions of an FDE as far as expressions go: [(pc, {column: rule})]"""
    now, stack, result = dict(first), [], [(start, dict(first))]
    for line in lines:
        m = OPERATION.match(line)
        if not m:
            continue
        op, args = m[1], m[2] or ""
        if "advance_loc" in op or op == "DW_CFA_set_loc":
            result.append((int(args.split()[-1], 16), dict(now)))
            continue
        if op == "DW_CFA_remember_state":
            stack.append(dict(now))
        elif op == "DW_CFA_restore_state":
            now = stack.pop() if stack else {}
        elif op == "DW_CFA_def_cfa_expression":
            now["CFA"] = expression(args[1:-1], False)
        elif op.startswith("DW_CFA_def_cfa"):
            # offset or register alone keep an expression only in files that are broken
            now.pop("CFA", None)
        else:
            r = re.match(r"r(\d+)", args)
            col = DWARF[int(r[1])] if r and int(r[1]) < len(DWARF) else None
            if op in ("DW_CFA_expression", "DW_CFA_val_expression"):
                text = args[args.index("(DW_OP"):][1:-1] if "(DW_OP" in args else ""
                now[col] = expression(text, op == "DW_CFA_expression")
            elif col and op.startswith("DW_CFA_restore") and col in first:
                now[col] = first[col]
            else:
                now.pop(col, None)
        result[-1] = (result[-1][0], dict(now))
    return result


def expressions(tools, path, wanted):
    """The expressions of the FDEs at these offsets in .eh_frame"""
    found, lines, inside, take = {}, [], False, None
    cies = {}

    def close():
        if take is None:
            return
        kind, offset, cie, start = take
        if kind:
            cies[offset] = run_expressions(lines, 0, {})[-1][1]
        else:
            found[offset] = run_expressions(lines, start, cies.get(cie, {}))

    for line in tools.lines("readelf", "--debug-dump=frames,no-follow-links", path):
        if line.startswith("Contents of the "):
            inside = line.startswith("Contents of the .eh_frame section")
            continue
        if not inside:
            continue
        if line[0] == " ":
            if take is not None:
                lines.append(line.rstrip("\n"))
            continue
        m = HEADER.match(line)
        if not m:
            continue
        close()
        lines, take, offset = [], None, int(m[1], 16)
        if m[2]:
            take = (True, offset, None, 0)
        elif offset in wanted:
            take = (False, offset, int(m[4], 16), int(m[5], 16))
    close()
    return found
