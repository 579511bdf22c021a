# SPDX-License-Identifier: GPL-2.0
"""formats.py - check that an export has the form that the readers of its format expect

Each check takes a file and the number of events in it, and raises an exception if the file is
wrong. A check raises Skip if the program that it needs is not installed. The functions in LINES
return the stacks of an export with --lines.
"""
import gzip
import json
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))


class Skip(Exception):
    pass


def folded(path, events):
    """flamegraph.pl: '^(.*)\\s+?(\\d+(?:\\.\\d*)?)$', frames between semicolons."""
    total = 0
    for line in open(path, encoding="utf-8", errors="surrogateescape").read().split("\n")[:-1]:
        m = re.match(r"^(.*)\s+?(\d+(?:\.\d*)?)$", line)
        assert m, line
        assert all(m.group(1).split(";")), line
        total += int(m.group(2))
    assert total == events, (total, events)


def perf_script(path, events):
    """As stackcollapse-perf.pl and the Firefox Profiler's importer take a line apart."""
    seen, stack, header = 0, [], None
    text = open(path, encoding="utf-8", errors="surrogateescape").read()
    assert re.match(r"^\S.*?\s+(?:\d+/)?\d+\s+(?:\[\d+\]\s+)?[\d.]+:", text), text[:100]
    for line in text.split("\n"):
        if not line:
            header = None
        elif line[0] != "\t":
            assert header is None, line
            header = re.match(r"^(\S.+?)\s+(\d+)/(\d+)\s+\[(\d+)\]\s+([\d.]+):\s*(\d+)*\s+(\S+)"
                              r":\s*$", line)
            assert header, line
            seen += 1
        else:
            frame = re.match(r"^\s*(\w+)\s*(.+) \((.*)\)", line)
            assert header and frame, line
            stack.append(frame.group(2))
    assert seen == events, (seen, events)


def firefox(path, events):
    """The tables of a Gecko profile: every index leads to the right kind of entry."""
    p = json.load(open(path, encoding="utf-8"))
    meta = p["meta"]
    if "preprocessedProfileVersion" in meta:
        return firefox_processed(p, events)
    for key in ("version", "startTime", "interval", "processType", "stackwalk", "categories",
                "markerSchema"):
        assert key in meta, key
    assert isinstance(p["libs"], list) and isinstance(p["processes"], list)
    schemas = {m["name"] for m in meta["markerSchema"]}
    samples = 0
    for t in p["threads"]:
        for key in ("name", "pid", "tid", "registerTime", "processType"):
            assert key in t, key
        strings = t["stringTable"]
        columns = {k: t[k]["schema"] for k in ("samples", "frameTable", "stackTable", "markers")}
        for k, schema in columns.items():
            assert sorted(schema.values()) == list(range(len(schema))), schema
            assert all(len(row) == len(schema) for row in t[k]["data"]), k
        c = columns["frameTable"]
        for row in t["frameTable"]["data"]:
            assert isinstance(strings[row[c["location"]]], str)
            cat = meta["categories"][row[c["category"]]]
            assert row[c["subcategory"]] < len(cat["subcategories"])
        c = columns["stackTable"]
        for i, row in enumerate(t["stackTable"]["data"]):
            assert row[c["prefix"]] is None or 0 <= row[c["prefix"]] < i
            assert 0 <= row[c["frame"]] < len(t["frameTable"]["data"])
        c, last = columns["samples"], 0
        for row in t["samples"]["data"]:
            assert row[c["stack"]] is None or 0 <= row[c["stack"]] < len(t["stackTable"]["data"])
            assert row[c["time"]] >= last
            last = row[c["time"]]
        samples += len(t["samples"]["data"])
        c = columns["markers"]
        for row in t["markers"]["data"]:
            assert strings[row[c["name"]]] == "off-CPU"
            assert row[c["startTime"]] <= row[c["endTime"]] and row[c["phase"]] == 1
            assert row[c["data"]]["type"] in schemas
            assert row[c["category"]] < len(meta["categories"])
    assert samples == events, (samples, events)


def firefox_processed(p, events):
    """The same of a processed profile, whose tables are columns of one length."""
    meta = p["meta"]
    assert meta["preprocessedProfileVersion"] == 55 and meta["symbolicated"] is True
    # without one there is no default category
    assert any(c["color"] == "grey" for c in meta["categories"])
    schemas = {m["name"]: m["fields"] for m in meta["markerSchema"]}
    for lib in p["libs"]:
        assert sorted(lib) == ["arch", "breakpadId", "codeId", "debugName", "debugPath", "name",
                               "path"]
        assert all(isinstance(v, str) for k, v in lib.items() if k != "codeId")
    samples = 0
    for t in p["threads"]:
        strings = t["stringArray"]
        assert len(set(strings)) == len(strings)
        assert isinstance(t["pid"], str) and t["isMainThread"] == (str(t["tid"]) == t["pid"])

        def table(name, *columns, strings=strings, t=t):
            got = dict(t[name])
            nr = got.pop("length")
            assert sorted(got) == sorted(columns), (name, sorted(got))
            assert all(len(col) == nr for col in got.values()), name
            return [dict(zip(got, row)) for row in zip(*got.values())] if nr else []

        funcs = table("funcTable", "name", "isJS", "relevantForJS", "resource", "fileName",
                      "lineNumber", "columnNumber")
        resources = table("resourceTable", "name", "lib", "host", "type")
        symbols = table("nativeSymbols", "libIndex", "address", "name", "functionSize")
        frames = table("frameTable", "address", "inlineDepth", "category", "subcategory", "func",
                       "nativeSymbol", "innerWindowID", "line", "column")
        stacks = table("stackTable", "prefix", "frame")
        markers = table("markers", "startTime", "endTime", "data", "phase", "category", "name")
        for r in resources:
            assert strings[r["name"]] and r["type"] == 1
            assert r["lib"] is None or p["libs"][r["lib"]]["name"] == strings[r["name"]]
        for s in symbols:
            assert 0 <= s["address"] and p["libs"][s["libIndex"]] and strings[s["name"]]
        for f in funcs:
            assert strings[f["name"]] and -1 <= f["resource"] < len(resources) and not f["isJS"]
            assert f["fileName"] is None or strings[f["fileName"]]
        assert len({(f["name"], f["resource"], f["fileName"]) for f in funcs}) == len(funcs)
        for f in frames:
            func = funcs[f["func"]]
            assert f["category"] < len(meta["categories"]) and f["subcategory"] == 0
            assert -1 <= f["address"] < 2**31
            if f["nativeSymbol"] is not None:
                symbol = symbols[f["nativeSymbol"]]
                assert symbol["libIndex"] == resources[func["resource"]]["lib"]
                assert symbol["address"] <= f["address"]
        # no sample of another thread
        for k, rows in (("func", funcs), ("nativeSymbol", symbols)):
            assert {f[k] for f in frames} - {None} == set(range(len(rows))), k
        for i, s in enumerate(stacks):
            assert s["prefix"] is None or 0 <= s["prefix"] < i
            frame = frames[s["frame"]]
            if frame["inlineDepth"]:
                outer = frames[stacks[s["prefix"]]["frame"]]
                assert frame["inlineDepth"] == outer["inlineDepth"] + 1
                assert (frame["address"], frame["nativeSymbol"]) == (outer["address"],
                                                                     outer["nativeSymbol"])
        got = dict(t["samples"])
        nr = got.pop("length")
        assert got.pop("weight") is None and got.pop("weightType") == "samples"
        assert sorted(got) == ["stack", "time"] and all(len(c) == nr for c in got.values())
        assert got["time"] == sorted(got["time"])
        assert all(s is None or 0 <= s < len(stacks) for s in got["stack"])
        samples += nr
        for m in markers:
            assert strings[m["name"]] == "off-CPU" and m["phase"] == 1
            assert m["startTime"] <= m["endTime"]
            assert [f["key"] for f in schemas[m["data"]["type"]]] == ["state"]
            assert meta["categories"][m["category"]]["name"] == "Waiting"
    assert samples == events, (samples, events)


def firefox_stacks(path):
    """Those of all samples: [(function, source, line, depth, address)], innermost first."""
    for t in json.load(open(path, encoding="utf-8"))["threads"]:
        strings, frames, funcs = t["stringArray"], t["frameTable"], t["funcTable"]
        for stack in t["samples"]["stack"]:
            out = []
            while stack is not None:
                frame = t["stackTable"]["frame"][stack]
                func = frames["func"][frame]
                source = funcs["fileName"][func]
                out.append((strings[funcs["name"][func]],
                            None if source is None else strings[source], frames["line"][frame],
                            frames["inlineDepth"][frame], frames["address"][frame]))
                stack = t["stackTable"]["prefix"][stack]
            yield out


# ---- protocol buffers ----

def fields(data):
    """[(field, value)]: numbers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            b = data[at]
            at += 1
            n |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                return n

    out = []
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            out.append((tag >> 3, varint()))
        elif tag & 7 == 2:
            size = varint()
            assert at + size <= len(data)
            out.append((tag >> 3, data[at:at + size]))
            at += size
        else:
            raise AssertionError("wire type %d" % (tag & 7))
    return out


def varints(data):
    out, n, shift = [], 0, 0
    for b in data:
        n |= (b & 0x7f) << shift
        shift += 7
        if b < 0x80:
            out.append(n)
            n = shift = 0
    return out


def protoc(schema, message, data):
    """As text, by the schema of the fields that are used; what is unknown prints as a number."""
    if not shutil.which("protoc"):
        return None
    got = subprocess.run(["protoc", "--proto_path", HERE, "--decode", message,
                          os.path.join(HERE, schema)], input=data,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert not got.returncode, got.stderr.decode()
    text = got.stdout.decode()
    unknown = re.search(r"(?m)^ *\d+[ :{].*$", text)
    assert not unknown, "not in the schema: " + unknown.group(0)
    return text


def pprof_sums(path):
    sums = [0, 0]
    for field, value in fields(gzip.open(path).read()):
        if field == 2:
            sample = dict(fields(value))
            for i, n in enumerate(varints(sample[2])):
                sums[i] += n
    return sums


def pprof(path, events):
    data = gzip.open(path).read()
    all_fields = fields(data)
    strings = [v.decode("utf-8") for f, v in all_fields if f == 6]
    assert strings[0] == ""
    types = [dict(fields(v)) for f, v in all_fields if f == 1]
    assert [(strings[t[1]], strings[t[2]]) for t in types] == [
        ("events", "count"), ("offcpu", "nanoseconds")]
    mappings = {dict(fields(v))[1]: dict(fields(v)) for f, v in all_fields if f == 3}
    functions = {dict(fields(v))[1]: dict(fields(v)) for f, v in all_fields if f == 5}
    locations = {dict(fields(v))[1]: fields(v) for f, v in all_fields if f == 4}
    for f in functions.values():
        assert strings[f[2]] and f[2] == f[3] and (4 not in f or strings[f[4]])
    assert len({(f[2], f.get(4)) for f in functions.values()}) == len(functions)
    for loc in locations.values():
        assert all(dict(fields(v))[1] in functions for f, v in loc if f == 4)
        loc = dict(loc)
        if 2 in loc:
            assert loc[3] < mappings[loc[2]][3], loc
    for f, v in all_fields:
        if f == 2:
            assert all(i in locations for i in varints(dict(fields(v))[1]))
    assert pprof_sums(path)[0] == events, (pprof_sums(path), events)
    protoc("pprof.proto", "perftools.profiles.Profile", data)
    if not shutil.which("go"):
        raise Skip("go is not installed (Debian's golang-go): go tool pprof was not asked")
    for index, total in (("events", events), ("offcpu", pprof_sums(path)[1])):
        got = subprocess.run(["go", "tool", "pprof", "-raw", "-sample_index=" + index, path],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=dict(os.environ, HOME="/nonexistent", PPROF_TMPDIR="/tmp"))
        assert not got.returncode, got.stderr.decode()
        part = got.stdout.decode().split("\nSamples:\n")[1].split("\nLocations")[0].splitlines()[1:]
        rows = [re.match(r"^ +(\d+) +(\d+): ", row) for row in part]
        sums = [sum(int(r.group(i)) for r in rows if r) for i in (1, 2)]
        assert total in sums, (index, total, sums)


def pprof_stacks(path):
    all_fields = fields(gzip.open(path).read())
    strings = [v.decode("utf-8") for f, v in all_fields if f == 6]
    functions = {dict(fields(v))[1]: dict(fields(v)) for f, v in all_fields if f == 5}
    locations = {dict(fields(v))[1]: fields(v) for f, v in all_fields if f == 4}
    for field, value in all_fields:
        if field != 2:
            continue
        out = []
        for loc in varints(dict(fields(value)).get(1, b"")):
            lines = [dict(fields(v)) for f, v in locations[loc] if f == 4]
            for depth, line in zip(range(len(lines) - 1, -1, -1), lines):
                f = functions[line[1]]
                out.append((strings[f[2]], strings[f[4]] if 4 in f else None, line.get(2), depth))
        yield out


def perfetto(path, events):
    data = open(path, "rb").read()
    known = {k: set() for k in (5, 6, 7, 16, 17, 18, 19)}
    samples = stacks = 0
    cleared = set()
    for field, packet in fields(data):
        assert field == 1
        p = fields(packet)
        d = dict(p)
        if 12 in d:
            for kind, item in fields(d[12]):
                item = fields(item)
                iid = dict(item)[1]
                assert iid and iid not in known[kind], "interned twice"
                if kind == 6:
                    assert dict(item).get(2, 0) in known[5] | {0}
                    assert dict(item).get(3, 0) in known[19] | {0}
                    assert 3 not in dict(item) or 4 in dict(item)
                    assert dict(item).get(5, 0) in known[18] | {0}
                elif kind == 7:
                    assert all(v in known[6] for f, v in item if f == 2)
                    stacks += 1
                elif kind == 19:
                    assert dict(item)[7] in known[17] and dict(item).get(2, 0) in known[16] | {0}
                known[kind].add(iid)
        if 66 in d:
            samples += 1
            assert d[8] and d[58] == 6 and d[13] & 2
            if not cleared:
                assert d[13] & 1
            cleared.add(d[10])
            assert dict(fields(d[66]))[4] in known[7]
    assert 0 < samples <= events and stacks, (samples, events)
    text = protoc("perfetto.proto", "perfetto.protos.Trace", data)
    if text is None:
        raise Skip("protoc is not installed (Debian's protobuf-compiler): only read here")
    assert text.count("perf_sample {") == samples


def perfetto_stacks(path):
    """A depth is None: a frame does not say it."""
    items, samples = {}, []
    for _, packet in fields(open(path, "rb").read()):
        d = dict(fields(packet))
        for kind, item in fields(d.get(12, b"")):
            items[kind, dict(fields(item))[1]] = fields(item)
        if 66 in d:
            samples.append(dict(fields(d[66]))[4])

    def text(kind, iid):
        return dict(items[kind, iid])[2].decode("utf-8") if iid else None

    for iid in samples:
        out = []
        for f in [dict(items[6, v]) for f, v in items[7, iid] if f == 2][::-1]:
            out.append((text(5, f.get(2)), text(18, f.get(5)), f.get(6), None))
        yield out


LINES = {"firefox": firefox_stacks, "perfetto": perfetto_stacks, "pprof": pprof_stacks}
CHECKS = {"folded": folded, "perf-script": perf_script, "firefox": firefox, "perfetto": perfetto,
          "pprof": pprof}
