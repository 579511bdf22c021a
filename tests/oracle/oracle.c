// SPDX-License-Identifier: GPL-2.0
/*
 * oracle.c - compares every row of a generated table with libdw's reading of .eh_frame
 *
 * Usage: oracle [--section VERSION] FILE|vdso...
 *
 * For each FDE, the oracle walks libdw's rows. At each boundary of a row of libdw or of the table,
 * and one byte before and after it, the oracle asks both how to unwind. It computes the answers
 * for a made-up machine: registers hold large random numbers and memory holds a hash of the
 * address. So the oracle compares rules by their results, in whatever form they are written.
 *
 * The table must give the same SP (which the table calls CFA), return address and frame pointer
 * for the caller. It must call the same frames signal frames and outermost. Instead, the table may
 * have a hole where the generator gives a reason. Where libdw knows no rule, the table may have no
 * rule either, except for
 *
 *	- padding in front of a function, if its bytes are nops, int3 or zero (objdump's rules,
 *	  implemented a second time here), with the rule of the function's first byte;
 *	- sections named .plt*, which have no .eh_frame if lld linked the file;
 *	- functions of i386 that only read their return address, see ask_pc_thunk();
 *	- rows from following code and of Go's own tables, where a table made without them has a
 *	  hole. flow.c and go.c check such rows.
 *
 * With --section, the oracle checks the .sframe section in the file instead of a generated table.
 * An assembler and a linker wrote the section, and it must be of this version. gas drops or spoils
 * some functions: functions with a row that counts from a register other than SP and FP, and
 * functions without a caller. The oracle does not check these functions. Nine of ten pcs of the
 * other functions must have a row.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libunwind-user/gen/impl.h"
#include "oracle.h"
#include "libunwind-user/sframe/sframe.h"

#define MAX_PRINTED	20
struct file {
	const char *name;
	Elf *elf;
	Dwarf_CFI *cfi;
	struct gen_table table, plain;	/* plain: of .eh_frame alone */
	struct sframe_table reader, plain_reader;
	uint8_t *image;			/* a copy of the file, if libdw needs one */
	uint64_t pushed, pushed_end;	/* the FDE for which pushed_by_plt() is true */
	uint64_t kept;			/* pcs where the register that is kept was compared */
	uint64_t pcs, holes, wrong, fdes, padding, spoilt, returned_to, flow;
};

static unsigned int section;		/* version; 0: generated tables */

/* ------------------------------- our side -------------------------------- */

static uint64_t value_of(const struct sframe_rule *rule, uint64_t pc, uint64_t cfa, uint64_t same)
{
	uint64_t v;

	switch (rule->base) {
	case SFRAME_CFA:
		v = cfa;
		break;
	case SFRAME_SP:
		v = reg_value(machine->sp, pc);
		break;
	case SFRAME_FP:
		v = reg_value(machine->fp, pc);
		break;
	case SFRAME_REG:
		v = reg_value(rule->reg, pc);
		break;
	default:
		return same;
	}
	v += rule->off;
	return rule->deref ? memory(v) + rule->add : v;
}

static int ask_table(struct file *f, uint64_t pc, struct answer *a, struct sframe_row *row)
{
	uint64_t slot;
	int ret;

	memset(a, 0, sizeof(*a));
	ret = sframe_find(&f->reader, pc, row);
	if (ret == -ENOENT || ret == -ESRCH) {
		a->hole = true;
		a->nothing = ret == -ESRCH;
		return 0;
	}
	if (ret)
		return ret;
	a->signal = row->flags & SFRAME_ROW_SIGNAL;
	if (row->ra.base == SFRAME_UNDEFINED) {
		a->outermost = true;
		return 0;
	}
	a->cfa = value_of(&row->cfa, pc, 0, 0);
	a->ra = value_of(&row->ra, pc, a->cfa, machine->link ? reg_value(machine->ra, pc) : 0);
	a->fp = value_of(&row->fp, pc, a->cfa, reg_value(machine->fp, pc));
	slot = SFRAME_ROW_KEPT(row->flags);
	a->knows_kept = slot != SFRAME_KEPT_UNKNOWN;
	if (slot == SFRAME_KEPT_IN_REG)
		a->kept = reg_value(machine->kept, pc);
	else
		a->kept = memory(a->cfa - 8 * slot);
	a->cfa += machine->sp_off;
	a->is_signed = row->flags & SFRAME_ROW_MANGLED;
	return 0;
}

/* ------------------------------- comparing ------------------------------- */

static void wrong(struct file *f, uint64_t pc, const char *what)
{
	if (f->wrong++ < MAX_PRINTED)
		printf("%s: %#" PRIx64 ": %s\n", f->name, pc, what);
}

static bool same(const struct answer *a, const struct answer *b)
{
	if (a->outermost || b->outermost)
		return a->outermost == b->outermost;
	return a->signal == b->signal && a->is_signed == b->is_signed && a->cfa == b->cfa &&
	       a->ra == b->ra && a->fp == b->fp && !a->no_row && !b->no_row;
}

/* Is the address in a section named .plt*? */
static bool in_plt(struct file *f, uint64_t pc)
{
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(f->elf, &names))
		return false;
	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || pc < sh.sh_addr || pc - sh.sh_addr >= sh.sh_size ||
		    !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(f->elf, names, sh.sh_name);
		return name && !strncmp(name, ".plt", 4);
	}
	return false;
}

/* Stubs push up to two words, and RA only if they push. */
static bool may_be_stub(const struct answer *ours, uint64_t pc)
{
	uint64_t pushed = ours->cfa - reg_value(machine->sp, pc);

	if (ours->fp != reg_value(machine->fp, pc) || ours->is_signed || ours->signal)
		return false;
	if (!machine->link)
		return ours->ra == memory(ours->cfa - 8) && pushed > 0 && pushed <= 24;
	return ours->ra == reg_value(machine->ra, pc) ? !pushed || pushed == 16 :
	       ours->ra == memory(ours->cfa - 8) && pushed == 16;
}

/*
 * i386: a function that moves the word at (%esp) to a register and returns, aligned to 16. The file
 * has it of glibc's crti.o, where it has no .eh_frame. Nothing is pushed at either instruction.
 * False: there is other code at @pc.
 */
static bool ask_pc_thunk(struct file *f, uint64_t pc, struct answer *a)
{
	uint64_t at = pc & -16ull, left;
	const uint8_t *code = code_at(f->elf, at, &left);
	char modrm[3];

	if (machine->elf != EM_386 || pc - at >= 4 || !code || left < 4)
		return false;
	/* to eax, ecx, edx, ebx, esi, edi */
	snprintf(modrm, sizeof(modrm), "%02x", code[1]);
	if (code[0] != 0x8b || !strchr("013", modrm[0]) || !strchr("4c", modrm[1]) ||
	    memcmp(code + 2, "\x24\xc3", 2))
		return false;
	memset(a, 0, sizeof(*a));
	a->cfa = reg_value(machine->sp, pc) + machine->cfa_off;
	a->ra = memory(a->cfa - machine->cfa_off);
	a->fp = reg_value(machine->fp, pc);
	return true;
}

/* The table has a rule where libdw has no rule. Is that allowed? */
static void check_extra(struct file *f, uint64_t pc, const struct answer *ours)
{
	struct answer theirs;
	uint64_t left, start, end, next;
	struct sframe_row row;
	const uint8_t *data;

	if (sframe_find(&f->plain_reader, pc, &row) == -ESRCH) {
		f->flow++;
		return;
	}
	if (in_plt(f, pc)) {
		if (!may_be_stub(ours, pc))
			wrong(f, pc, "odd rule in a PLT");
		return;
	}
	if (ask_pc_thunk(f, pc, &theirs)) {
		if (!same(ours, &theirs))
			wrong(f, pc, "odd rule in a function that only reads its return address");
		return;
	}
	data = code_at(f->elf, pc, &left);
	/* up to the next function */
	for (next = pc + 1; data && next - pc < 64 && next - pc < left; next++) {
		if (ask_libdw(f->cfi, next, &theirs, &start, &end) != 1 ||
		    ask_pc_thunk(f, next, &theirs))
			break;
	}
	if (!data || next - pc >= left || next - pc >= 64) {
		wrong(f, pc, "a rule where .eh_frame has none");
		return;
	}
	f->padding++;
	/* pc may be in the middle of a nop: then the check must start at the nop */
	for (start = pc % machine->insn; start < 15; start += machine->insn) {
		if (all_nops(data - start, next - pc + start))
			break;
	}
	if (start >= 15)
		wrong(f, pc, "a rule for bytes without .eh_frame that are not padding");
	else if (!same(ours, &theirs))
		wrong(f, pc, "the rule of padding is not that of the function after it");
}

/*
 * A row that says "no caller" where .eh_frame does not: right in __start_context() of glibc, to
 * which makecontext() returns, and in the padding before it. Its source is
 * sysdeps/unix/sysv/linux/x86_64/__start_context.S: SP from rbx, then two calls. The second one
 * (exit) is where the jump over the first one goes, and hlt follows it.
 */
static bool is_returned_to(struct file *f, const struct sframe_row *row)
{
	uint64_t pc = row->start, left, start, end;
	struct answer theirs;
	const uint8_t *code;

	while (pc - row->start < row->size && ask_libdw(f->cfi, pc, &theirs, &start, &end) == 1)
		pc++;
	code = code_at(f->elf, pc, &left);
	if (machine->elf != EM_X86_64 || !code || left < 30)
		return false;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) {
		code += 4;
		pc += 4;
	}
	return !memcmp(code, "\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff\x74\x08\xe8", 13) &&
	       !memcmp(code + 17, "\x48\x89\xc7\xe8", 4) && code[25] == 0xf4 &&
	       row->start + row->size == pc + 26;
}

/*
 * A table that says where one register is kept says it everywhere, unless SP is not the CFA or the
 * value lies at no word of the frame. A table that does not need to say it never does.
 */
static void check_kept(struct file *f, uint64_t pc, const struct answer *ours,
		       const struct answer *theirs)
{
	if (!f->reader.kept) {
		if (ours->knows_kept)
			wrong(f, pc, "the table says where a register is kept, and should not");
		return;
	}
	if (ours->outermost || theirs->moved)
		return;
	f->kept++;
	if (ours->knows_kept != theirs->knows_kept ||
	    (ours->knows_kept && ours->kept != theirs->kept))
		wrong(f, pc, "another value of the register that is kept than libdw's");
}

static void check_pc(struct file *f, uint64_t pc)
{
	struct answer theirs, ours;
	struct sframe_row row;
	uint64_t start, end, left;
	int ret;

	f->pcs++;
	ret = ask_table(f, pc, &ours, &row);
	if (ret) {
		wrong(f, pc, "the table cannot be read there");
		return;
	}
	if (ours.hole) {
		f->holes++;
		/*
		 * The kernel would follow frame pointers where .eh_frame says that there are none
		 */
		if (ours.nothing && !section && code_at(f->elf, pc, &left) &&
		    !ask_libdw(f->cfi, pc, &theirs, &start, &end))
			wrong(f, pc, "nothing, where libdw has a rule");
		return;
	}
	ret = ask_libdw(f->cfi, pc, &theirs, &start, &end);
	if (pc >= f->pushed && pc < f->pushed_end)
		count_pushed(&theirs, pc);
	if (ours.outermost && is_returned_to(f, &row))
		f->returned_to++;
	else if (ret == 1)
		check_extra(f, pc, &ours);
	else if (ret)
		wrong(f, pc, "a rule where libdw's cannot be computed");
	else if (!same(&ours, &theirs))
		wrong(f, pc, theirs.no_row ? "a rule where SFrame has no words for libdw's" :
		      "another rule than libdw's");
	else
		check_kept(f, pc, &ours, &theirs);
}

static void check_around(struct file *f, uint64_t pc)
{
	check_pc(f, pc - 1);
	check_pc(f, pc);
	check_pc(f, pc + 1);
}

/* Walk libdw's rows in [start, end), then ours. */
static void check_range(struct file *f, uint64_t start, uint64_t end)
{
	struct sframe_row row;
	struct answer theirs;
	uint64_t pc, row_start, row_end;

	f->fdes++;
	if (section) {
		/*
		 * Version 1 has no size of a PLT's pattern, and ld 2.40 takes the first stub of
		 * .plt.sec for the first of .plt.
		 */
		if (!is_plain(f->cfi, start, end) ||
		    (section == SFRAME_VERSION_1 && in_plt(f, start))) {
			f->spoilt++;
			return;
		}
		for (pc = start; pc < end; pc++)
			check_pc(f, pc);
		return;
	}
	for (pc = start; pc < end; pc = row_end) {
		check_around(f, pc);
		if (ask_libdw(f->cfi, pc, &theirs, &row_start, &row_end) == 1 || row_end <= pc)
			row_end = pc + 1;
	}
	check_around(f, end);
	for (pc = start; pc < end; ) {
		if (sframe_find(&f->reader, pc, &row)) {
			pc++;
			continue;
		}
		check_around(f, row.start);
		/* with PC type MASK, check a few entries: the others repeat the pattern */
		pc = row.start + row.size > pc ? row.start + row.size : pc + 1;
	}
}

static uint32_t get32(const unsigned char *ident, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return ident[EI_DATA] == ELFDATA2MSB ? be32toh(v) : le32toh(v);
}

/* All FDEs, found by libdw itself. */
static int each_fde(struct file *f, void (*fn)(struct file *f, uint64_t start, uint64_t end))
{
	const unsigned char *ident = (void *)elf_getident(f->elf, NULL);
	Dwarf_Off off = 0, next;
	Dwarf_CFI_Entry entry;
	uint64_t start;
	GElf_Shdr sh;
	Elf_Data data;

	if (!eh_frame_of(f->elf, &sh, &data))
		return -1;
	for (; ; off = next) {
		int ret = dwarf_next_cfi(ident, &data, true, off, &next, &entry);

		if (ret > 0 && next > off && next < data.d_size)
			continue;
		if (ret)
			break;
		if (dwarf_cfi_cie_p(&entry))
			continue;
		/* all these files have sdata4 | pcrel; the unit tests have the rest */
		start = sh.sh_addr + (entry.fde.start - (uint8_t *)data.d_buf) +
			(int32_t)get32(ident, entry.fde.start);
		fn(f, start, start + get32(ident, entry.fde.start + 4));
	}
	return 0;
}

/* ld.so, or a program that has it within itself */
static bool is_loader(Elf *elf)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;
	size_t i;

	if (!gelf_getehdr(elf, &eh) || !eh.e_entry)
		return false;
	for (i = 0; gelf_getphdr(elf, i, &ph); i++) {
		if (ph.p_type == PT_INTERP)
			return false;
	}
	return true;
}

static void find_pushed(struct file *f, uint64_t start, uint64_t end)
{
	if (!pushed_by_plt(f->cfi, start, end))
		return;
	if (f->pushed || !is_loader(f->elf))
		wrong(f, start, "an FDE like _dl_runtime_resolve's where there is none");
	f->pushed = start;
	f->pushed_end = end;
}

static int check_fdes(struct file *f)
{
	return each_fde(f, find_pushed) ?: each_fde(f, check_range);
}

/* Walk all functions of the table, so that each of them is checked. */
static void check_own(struct file *f)
{
	struct sframe_func func;
	uint32_t i;

	for (i = 0; i < f->reader.nr_fdes; i++) {
		if (sframe_get_func(&f->reader, i, &func)) {
			wrong(f, 0, "a function of the table cannot be read");
			continue;
		}
		check_around(f, func.start);
		check_around(f, func.start + func.size);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void report(const struct file *f, double ms)
{
	const struct stats *s = &f->table.stats;
	uint64_t source = s->eh_frame_size + s->eh_frame_hdr_size, cause_bytes = 0;
	unsigned int i;

	printf("%-22s %6s %7" PRIu64 " FDEs %8" PRIu64 " rows, table %8zu of %8" PRIu64
	       " bytes (%.3f) in %6.1f ms: %" PRIu64 " pcs, %" PRIu64 " holes, %" PRIu64
	       " in padding, %" PRIu64 " by following code, %" PRIu64 " wrong\n",
	       f->name, machine->name, s->nr_fdes, s->nr_rows, f->table.size, source,
	       source ? (double)f->table.size / source : 0, ms, f->pcs, f->holes, f->padding,
	       f->flow, f->wrong);
	for (i = 0; i < STATS_NR_CAUSES; i++) {
		if (s->hole[i].nr)
			printf("    hole: %s: %" PRIu64 ", %" PRIu64 " bytes\n",
			       stats_get_cause_name(i), s->hole[i].nr, s->hole[i].bytes);
		cause_bytes += s->hole[i].bytes;
	}
	if (f->returned_to)
		printf("    without a caller, glibc's __start_context: %" PRIu64 " pcs\n",
		       f->returned_to);
	if (f->reader.kept)
		printf("    where a register is kept: compared at %" PRIu64 " pcs\n", f->kept);
	if (s->plt_bytes)
		printf("    PLT without .eh_frame: %" PRIu64 " bytes\n", s->plt_bytes);
}

/*
 * The table covers what .eh_frame covers, or gives a cause. Files with overlapping FDEs count bytes
 * twice: there, check only "not less".
 */
static void check_sum(struct file *f)
{
	const struct stats *s = &f->table.stats;
	uint64_t other = s->plt_bytes + s->flow_bytes + s->go_bytes;
	uint64_t known = s->covered_bytes - s->padding_bytes - other;
	unsigned int i;

	for (i = 0; i < STATS_NR_CAUSES; i++)
		known += i == STATS_CAUSE_OUTSIDE || i == STATS_CAUSE_FLOW ? 0 : s->hole[i].bytes;
	if (known < s->fde_bytes - other)
		wrong(f, 0, "code that is neither covered nor a hole with a cause");
}

static int read_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	(void)ctx;
	memcpy(to, (void *)(uintptr_t)addr, len);
	return 0;
}

/*
 * The vDSO as a file, for libdw; -1 if there is none. The table made from where it is mapped must
 * be the table made from the file, byte by byte.
 */
static int open_vdso(struct file *f)
{
	uint64_t addr = getauxval(AT_SYSINFO_EHDR), bias;
	const Elf64_Ehdr *ehdr = (const void *)(uintptr_t)addr;
	struct gen_table mapped;
	size_t size;
	int fd, ret;

	if (!addr)
		return -1;
	/* the section headers come last in it */
	size = ehdr->e_shoff + ehdr->e_shnum * ehdr->e_shentsize;
	fd = memfd_create("vdso", 0);
	if (fd < 0 || write(fd, ehdr, size) != (ssize_t)size)
		return -1;
	ret = gen_from_memory(read_memory, NULL, addr, &mapped, &bias);
	if (ret || gen_from_fd(fd, &f->table)) {
		wrong(f, 0, "no table from memory");
		return fd;
	}
	if (bias != addr || mapped.size != f->table.size ||
	    memcmp(mapped.data, f->table.data, mapped.size))
		wrong(f, 0, "memory and file give different tables");
	gen_free(&mapped);
	gen_free(&f->table);
	return fd;
}

/* Check the file's own section in place of a table */
static int read_section(struct file *f)
{
	Elf_Scn *scn = NULL;
	const char *name;
	Elf_Data *data;
	GElf_Shdr sh;
	size_t names;
	int ret = -ENOENT;

	if (elf_getshdrstrndx(f->elf, &names))
		return -ENOEXEC;
	f->reader.mem = NULL;
	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			return -ENOEXEC;
		name = elf_strptr(f->elf, names, sh.sh_name);
		if (name && !strcmp(name, ".sframe") && (data = elf_rawdata(scn, NULL))) {
			f->reader.mem = data->d_buf;
			f->reader.size = data->d_size;
			f->reader.base = sh.sh_addr;
			ret = 0;
		}
	}
	return ret;
}

static bool check_section(struct file *f)
{
	if (check_fdes(f))
		return false;
	if (f->reader.version != section)
		wrong(f, 0, "another version than asked for");
	if (f->fdes <= f->spoilt || f->holes * 10 > f->pcs)
		wrong(f, 0, "most of it is not in the section");
	printf("%-28s version %u, %u functions: %" PRIu64 " FDEs, %" PRIu64 " of them not plain; %"
	       PRIu64 " pcs, %" PRIu64 " without a row, %" PRIu64 " wrong\n", f->name,
	       f->reader.version, f->reader.nr_fdes, f->fdes, f->spoilt, f->pcs, f->holes,
	       f->wrong);
	return true;
}

static int check_file(const char *path, uint64_t sums[2])
{
	struct file f = { .name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path };
	double start;
	int fd, ret;

	fd = strcmp(path, "vdso") ? open(path, O_RDONLY | O_CLOEXEC) : open_vdso(&f);
	if (fd < 0) {
		printf("%s: %s\n", path, strerror(errno));
		return -1;
	}
	start = now();
	ret = gen_from_fd(fd, &f.table);
	start = now() - start;
	if (!ret)
		ret = gen_from_fd_flags(fd, ROWS_NO_FLOW | ROWS_NO_GO, &f.plain);
	if (ret) {
		printf("%s: no table: %s\n", path, strerror(-ret));
		gen_free(&f.table);
		close(fd);
		return -1;
	}
	f.elf = open_elf(fd, &f.image);
	f.cfi = f.elf ? dwarf_getcfi_elf(f.elf) : NULL;
	ret = gen_open(&f.table, &f.reader) ?: gen_open(&f.plain, &f.plain_reader);
	if (!ret && section)
		ret = read_section(&f) ?: sframe_open(&f.reader);
	if (!ret && section && f.cfi && check_section(&f)) {
		/* the sums are of generated tables */
	} else if (ret || !f.cfi || check_fdes(&f)) {
		printf("%s: %s\n", path, ret ? strerror(-ret) : "libdw finds no .eh_frame");
		f.wrong++;
	} else {
		check_own(&f);
		check_sum(&f);
		report(&f, start);
	}
	sums[0] += f.table.size;
	sums[1] += f.table.stats.eh_frame_size + f.table.stats.eh_frame_hdr_size;
	gen_free(&f.table);
	gen_free(&f.plain);
	if (f.cfi)
		dwarf_cfi_end(f.cfi);
	elf_end(f.elf);
	free(f.image);
	close(fd);
	return f.wrong ? -1 : 0;
}

int main(int argc, char **argv)
{
	uint64_t sums[2] = { 0 };
	int i, failed = 0;

	elf_version(EV_CURRENT);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[1], "--section")) {
		section = atoi(argv[2]);
		argv += 2;
		argc -= 2;
	}
	for (i = 1; i < argc; i++)
		failed += !!check_file(argv[i], sums);
	if (sums[1] && !section)
		printf("oracle: tables are %.3f of .eh_frame and .eh_frame_hdr over %d files\n",
		       (double)sums[0] / sums[1], argc - 1);
	printf("oracle: %d passed, %d failed\n", argc - 1 - failed, failed);
	return failed ? 1 : 0;
}
