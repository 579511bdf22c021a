// SPDX-License-Identifier: GPL-2.0
/*
 * space - memory and mapped files of a stepped program
 *
 * The generator makes a table for each mapped file, once for all programs. The stack is read in
 * pieces that are kept until the next instruction. Code is kept until a system call changes the
 * mappings.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stacks.h"
#include "libunwind-user/unwind-user.h"

#define PAGE	4096
#define CODES	65536

const char *space_shift;
u64 space_shift_after;
static struct file *files;

/* -------------------------------- memory -------------------------------- */

static struct page {
	struct space *space;
	u64 addr;
	u8 data[PAGE];
} pages[64];
static unsigned int used;

void space_forget(void)
{
	used = 0;
}

static int read_memory(pid_t pid, u64 addr, void *to, size_t len)
{
	struct iovec here = { to, len }, there = { (void *)addr, len };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

static const u8 *page_at(struct space *sp, u64 addr)
{
	unsigned int i;

	for (i = used; i--; ) {
		if (pages[i].addr == addr && pages[i].space == sp)
			return pages[i].data;
	}
	i = used < sizeof(pages) / sizeof(*pages) ? used++ : 0;
	pages[i].addr = addr;
	pages[i].space = sp;
	if (!read_memory(sp->pid, addr, pages[i].data, PAGE))
		return pages[i].data;
	pages[i].space = NULL;
	return NULL;
}

int space_read(struct space *sp, u64 addr, void *to, size_t len)
{
	const u8 *page;
	size_t n;

	for (; len; len -= n, addr += n, to = (u8 *)to + n) {
		n = PAGE - addr % PAGE;
		if (n > len)
			n = len;
		page = page_at(sp, addr - addr % PAGE);
		if (!page)
			return -EFAULT;
		memcpy(to, page + addr % PAGE, n);
	}
	return 0;
}

u64 space_word(struct space *sp, u64 addr)
{
	u64 word;

	return space_read(sp, addr, &word, sizeof(word)) ? 0 : word;
}

const u8 *space_code(struct space *sp, u64 pc)
{
	struct code *c;
	size_t left = PAGE - pc % PAGE;

	if (!sp->code)
		sp->code = calloc(CODES, sizeof(*sp->code));
	c = &sp->code[(pc ^ pc >> 16) % CODES];
	if (c->pc == pc)
		return c->bytes;
	memset(c, 0, sizeof(*c));
	if (read_memory(sp->pid, pc, c->bytes, CODE_BYTES) && left < CODE_BYTES)
		read_memory(sp->pid, pc, c->bytes, left);
	c->pc = pc;
	return c->bytes;
}

/* --------------------------------- files -------------------------------- */

/* The function of @t that holds @pc */
static bool func_at(const struct sframe_table *t, u64 pc, struct sframe_func *func)
{
	u32 i;

	for (i = 0; i < t->nr_fdes; i++) {
		if (!sframe_get_func(t, i, func) && pc - func->start < func->size)
			return true;
	}
	return false;
}

bool space_shift_row(struct space *sp, u64 pc)
{
	const struct map *m = space_map(sp, pc);
	struct sframe_func func;
	u32 i;
	u8 *row;

	/* of the plain kind: starts of one byte, not of a PLT */
	if (!m || !m->has_table || !strstr(m->file->path, space_shift) ||
	    !func_at(&m->t, pc, &func) || func.info)
		return false;
	row = m->file->table.data + m->t.fre_off + func.fre_off;
	for (i = 0; i < func.nr_fres; i++) {
		if (i && *row == pc - func.start) {
			if (space_shift_after && space_shift_after--)
				return false;
			(*row)++;
			return true;
		}
		row += 2 + (SFRAME_FRE_COUNT(row[1]) << SFRAME_FRE_WORD_SHIFT(row[1]));
	}
	return false;
}

static int read_vdso(void *ctx, u64 addr, void *to, size_t len)
{
	return read_memory(*(pid_t *)ctx, addr, to, len);
}

static void make_table(struct file *f, pid_t pid, u64 addr)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int fd, i;
	u64 bias;

	if (!strcmp(f->path, "[vdso]")) {
		f->error = gen_from_memory(read_vdso, &pid, addr, &f->table, &bias);
		f->load[f->nr_loads++] = (struct phdr) { 0, addr - bias, 1 << 20 };
		return;
	}
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	f->error = fd < 0 ? -errno : gen_from_fd(fd, &f->table);
	if (!f->error && pread(fd, &eh, sizeof(eh), 0) == sizeof(eh)) {
		for (i = 0; i < eh.e_phnum; i++) {
			if (pread(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) != sizeof(ph))
				break;
			/* lld has several segments in one page of the file */
			if (ph.p_type == PT_LOAD && ph.p_flags & PF_X && f->nr_loads < 16)
				f->load[f->nr_loads++] =
					(struct phdr) { ph.p_offset, ph.p_vaddr, ph.p_filesz };
		}
	}
	if (fd >= 0)
		close(fd);
}

static struct file *file_of(pid_t pid, const char *path, u64 dev, u64 ino, u64 addr)
{
	struct file *f;

	for (f = files; f; f = f->next) {
		if (f->dev == dev && f->ino == ino && !strcmp(f->path, path))
			return f;
	}
	f = calloc(1, sizeof(*f));
	f->path = strdup(path);
	f->dev = dev;
	f->ino = ino;
	make_table(f, pid, addr);
	if (f->error)
		fprintf(stderr, "singlestep: no table for %s: %s\n", path, strerror(-f->error));
	f->next = files;
	files = f;
	return f;
}

/* The file's table where the file is mapped */
static void place(struct map *m)
{
	const struct file *f = m->file;
	unsigned int i;
	u64 bias;

	for (i = 0; i < f->nr_loads; i++) {
		const struct phdr *l = &f->load[i];

		if (m->pgoff + PAGE <= l->off - l->off % PAGE || m->pgoff >= l->off + l->size)
			continue;
		bias = m->start - m->pgoff + l->off - l->vaddr;
		m->t = (struct sframe_table) {
			.mem = f->table.data, .size = f->table.size, .base = f->table.base + bias,
			.text_start = f->table.text_start + bias, .text_size = f->table.text_size,
		};
		m->has_table = !f->error && !sframe_open(&m->t);
	}
}

/* --------------------------------- maps --------------------------------- */

static void drop_maps(struct space *sp)
{
	free(sp->map);
	sp->map = NULL;
	sp->nr_maps = 0;
}

static void read_maps(struct space *sp)
{
	char name[64], line[4500], perms[8];
	unsigned int major, minor;
	struct map *m;
	int at;
	FILE *f;
	u64 ino;

	drop_maps(sp);
	snprintf(name, sizeof(name), "/proc/%d/maps", sp->pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!(sp->nr_maps % 64))
			sp->map = realloc(sp->map, (sp->nr_maps + 64) * sizeof(*sp->map));
		m = &sp->map[sp->nr_maps];
		memset(m, 0, sizeof(*m));
		at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &m->start, &m->end, perms, &m->pgoff, &major, &minor, &ino, &at) < 7)
			continue;
		sp->nr_maps++;
		if (perms[2] == 'x' && (line[at] == '/' || !strcmp(line + at, "[vdso]"))) {
			m->file = file_of(sp->pid, line + at, (u64)major << 32 | minor, ino,
					  m->start);
			place(m);
		}
	}
	if (f)
		fclose(f);
	sp->stale = false;
}

static void read_stat(struct space *sp)
{
	char name[64], line[2048], *p;
	u64 auxv[2];
	int i;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", sp->pid);
	f = fopen(name, "re");
	if (f && fgets(line, sizeof(line), f) && (p = strrchr(line, ')'))) {
		/* fields 28 and 48, counted from 1; the one after ')' is 3 */
		for (i = 3; p && i <= 48; i++) {
			p = strchr(p + 1, ' ');
			if (p && i == 28)
				sp->start_stack = strtoull(p, NULL, 10);
			if (p && i == 48)
				sp->arg_start = strtoull(p, NULL, 10);
		}
	}
	if (f)
		fclose(f);
	snprintf(name, sizeof(name), "/proc/%d/auxv", sp->pid);
	f = fopen(name, "re");
	while (f && fread(auxv, sizeof(auxv), 1, f) == 1) {
		if (auxv[0] == AT_ENTRY)
			sp->entry = auxv[1];
	}
	if (f)
		fclose(f);
}

struct space *space_new(pid_t pid)
{
	struct space *sp = calloc(1, sizeof(*sp));

	sp->pid = pid;
	sp->users = 1;
	sp->stale = true;
	read_stat(sp);
	return sp;
}

void space_put(struct space *sp)
{
	if (--sp->users)
		return;
	drop_maps(sp);
	free(sp->code);
	free(sp);
	space_forget();
}

const struct map *space_map(struct space *sp, u64 addr)
{
	unsigned int i;
	int again;

	for (again = 0; again < 2; again++) {
		if (sp->stale) {
			read_maps(sp);
			if (sp->code)
				memset(sp->code, 0, CODES * sizeof(*sp->code));
		}
		bisect(i, sp->nr_maps, sp->map[i].end > addr);
		if (i < sp->nr_maps && addr >= sp->map[i].start)
			return &sp->map[i];
		/* a stack that grew */
		if (i >= sp->nr_maps || again)
			break;
		sp->stale = true;
	}
	return NULL;
}

const char *space_name(struct space *sp, u64 pc, bool exact)
{
	static struct uu_symbols *symbols;
	const struct map *m = space_map(sp, pc);
	struct uu_symbol sym;
	static char name[512];
	struct uu_file file;

	if (!symbols)
		symbols = uu_symbols_new(NULL);
	if (!m || !m->file) {
		snprintf(name, sizeof(name), "%s", m ? "no file" : "not mapped");
		return name;
	}
	file = (struct uu_file) { .path = m->file->path };
	if (!uu_symbols_find(symbols, &file, pc - m->start + m->pgoff, &sym))
		snprintf(name, sizeof(name), "%s (%s)", sym.name, m->file->path);
	else if (!exact)
		snprintf(name, sizeof(name), "no symbol (%s)", m->file->path);
	else
		snprintf(name, sizeof(name), "%#" PRIx64 " (%s)", pc - m->start + m->pgoff,
			 m->file->path);
	return name;
}
