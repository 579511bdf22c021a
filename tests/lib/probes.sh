# SPDX-License-Identifier: GPL-2.0
#
# probes.sh: the shell tests define kprobe events and uprobe events with these functions; bash
# sources the file. All such events are in the system $group, and remove_probes() removes them.

group=ustack$$
dynamic=kprobe_events

# add_probe DEFINITION: define an event in the file $dynamic of tracefs
add_probe()
{
	echo "$1" >>/sys/kernel/tracing/$dynamic
}

remove_probes()
{
	local name
	for name in $(sed -n "s|^[^:]*:\($group/[^ ]*\).*|\1|p" \
		/sys/kernel/tracing/dynamic_events 2>/dev/null | sort -u); do
		echo "-:$name" >>/sys/kernel/tracing/dynamic_events
	done
}

# find_offset FILE FUNCTION: print the offset of a function in its file
find_offset()
{
	python3 - "$@" <<'END'
import struct, sys
data, name = open(sys.argv[1], "rb").read(), sys.argv[2].encode()
def table(at, nr, size, form):
    return [struct.unpack_from(form, data, at + i * size) for i in range(nr)]
sections = table(struct.unpack_from("Q", data, 40)[0], struct.unpack_from("H", data, 60)[0], 64,
                 "IIQQQQIIQQ")
for s in sections:
    # SHT_SYMTAB, SHT_DYNSYM
    if s[1] not in (2, 11):
        continue
    names = sections[s[6]][4]
    for sym in table(s[4], s[5] // 24, 24, "IBBHQQ"):
        at = names + sym[0]
        if data[at:at + len(name) + 1] == name + b"\0":
            where = sections[sym[3]]
            print("%#x" % (sym[4] - where[3] + where[4]))
            sys.exit()
sys.exit("no function " + sys.argv[2])
END
}
