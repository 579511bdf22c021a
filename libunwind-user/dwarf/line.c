// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * line.c - a unit's line table: DWARF 5, 6.2; versions 2 to 5
 *
 * A sequence is kept if its addresses never fall and if it starts in executable code: functions
 * that a linker dropped leave sequences at 0. Several instructions of one word (VLIW) count as the
 * same address.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf.h"

#define MAX_FORMATS	16
/* the first row of the next sequence may need one more */
#define NO_FILE		UINT32_MAX

struct line_header {
	struct byte_cursor c;	/* the header after its first fields, then the program */
	uint64_t program;	/* bytes from there to the program */
	uint8_t off_size, addr_size, min_inst, range, opcode_base;
	int8_t line_base;
	const uint8_t *opcode_lens;
};

struct line_table {
	struct dw *dw;
	struct dw_unit *u;
	struct dw_lines *l;
	struct line_header h;
	size_t row_room, file_room, dir_room, seq_room;
};

static int add_dir(struct line_table *t, const char *dir)
{
	struct dw_lines *l = t->l;

	if (!dw_spend(t->dw, 1))
		return -ENOEXEC;
	if (vec_grow(&l->dirs, &t->dir_room, l->nr_dirs, 1, sizeof(*l->dirs)))
		return -ENOMEM;
	l->dirs[l->nr_dirs++] = dir;
	return 0;
}

static int add_file(struct line_table *t, const char *name, uint64_t dir)
{
	struct dw_lines *l = t->l;

	if (!dw_spend(t->dw, 1))
		return -ENOEXEC;
	if (vec_grow(&l->files, &t->file_room, l->nr_files, 1, sizeof(*l->files)))
		return -ENOMEM;
	memset(&l->files[l->nr_files], 0, sizeof(*l->files));
	l->files[l->nr_files].name = name;
	l->files[l->nr_files++].dir = dir;
	return 0;
}

/* Versions 2 to 4: directories and files are counted from 1, 0 is the unit's own. */
static int read_files_v4(struct line_table *t)
{
	struct byte_cursor *c = &t->h.c;
	const char *s;
	int ret;

	ret = add_dir(t, NULL);
	if (!ret)
		ret = add_file(t, NULL, 0);
	while (!ret && (s = bytes_read_string(c)) && *s)
		ret = add_dir(t, s);
	while (!ret && (s = bytes_read_string(c)) && *s) {
		uint64_t dir = bytes_read_uleb(c);

		bytes_read_uleb(c);
		bytes_read_uleb(c);
		ret = add_file(t, s, dir);
	}
	return ret ? ret : c->bad ? -ENOEXEC : 0;
}

struct format {
	unsigned int nr;
	uint64_t type[MAX_FORMATS], form[MAX_FORMATS];
};

static int read_format(struct byte_cursor *c, struct format *f)
{
	unsigned int i;

	f->nr = bytes_read_uint(c, 1);
	if (f->nr > MAX_FORMATS)
		return -EOPNOTSUPP;
	for (i = 0; i < f->nr; i++) {
		f->type[i] = bytes_read_uleb(c);
		f->form[i] = bytes_read_uleb(c);
		/* each entry takes at least a byte, which limits their number */
		if (f->form[i] == DW_FORM_implicit_const || f->form[i] == DW_FORM_flag_present ||
		    f->form[i] == DW_FORM_indirect || f->form[i] > UINT16_MAX)
			return -ENOEXEC;
	}
	return c->bad ? -ENOEXEC : 0;
}

static int read_entries_v5(struct line_table *t, bool files)
{
	struct byte_cursor *c = &t->h.c;
	/* with the sizes of the table */
	struct dw_unit u = *t->u;
	struct format f;
	uint64_t nr;
	unsigned int i;
	int ret;

	u.off_size = t->h.off_size;
	u.addr_size = t->h.addr_size;
	ret = read_format(c, &f);
	if (ret)
		return ret;
	nr = bytes_read_uleb(c);
	if (c->bad || (nr && !f.nr))
		return -ENOEXEC;
	while (nr--) {
		const char *path = NULL;
		uint64_t dir = 0;

		for (i = 0; i < f.nr; i++) {
			struct dw_value v;

			dw_read_value(t->dw, &u, c, f.form[i], 0, &v);
			if (f.type[i] == DW_LNCT_path)
				path = dw_get_string(t->dw, &u, &v);
			else if (f.type[i] == DW_LNCT_directory_index && v.class == DW_CONSTANT)
				dir = v.u;
		}
		if (c->bad)
			return -ENOEXEC;
		ret = files ? add_file(t, path, dir) : add_dir(t, path);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_header(struct line_table *t)
{
	struct byte_cursor c = dw_get_bytes(t->dw, DW_LINE, t->u->stmt_list, UINT64_MAX);
	struct line_header *h = &t->h;
	uint64_t len = bytes_read_uint(&c, 4);
	const uint8_t *program;
	int ret;

	h->off_size = 4;
	if (len == 0xffffffff) {
		len = bytes_read_uint(&c, 8);
		h->off_size = 8;
	}
	if (c.bad || len > (uint64_t)(c.end - c.p))
		return -ENOEXEC;
	c.end = c.p + len;
	t->l->version = bytes_read_uint(&c, 2);
	if (t->l->version < 2 || t->l->version > 5)
		return -EOPNOTSUPP;
	h->addr_size = t->u->addr_size;
	if (t->l->version == 5) {
		h->addr_size = bytes_read_uint(&c, 1);
		bytes_read_uint(&c, 1);
		if (!h->addr_size || h->addr_size > 8)
			return -ENOEXEC;
	}
	h->program = bytes_read_uint(&c, h->off_size);
	if (c.bad || h->program > (uint64_t)(c.end - c.p))
		return -ENOEXEC;
	program = c.p + h->program;
	h->min_inst = bytes_read_uint(&c, 1);
	if (t->l->version >= 4)
		bytes_read_uint(&c, 1);
	bytes_read_uint(&c, 1);
	h->line_base = bytes_read_uint(&c, 1);
	h->range = bytes_read_uint(&c, 1);
	h->opcode_base = bytes_read_uint(&c, 1);
	h->opcode_lens = c.p;
	if (!h->range || !h->opcode_base)
		return -ENOEXEC;
	bytes_skip(&c, h->opcode_base - 1);
	h->c = c;
	if (t->l->version == 5) {
		ret = read_entries_v5(t, false);
		if (!ret)
			ret = read_entries_v5(t, true);
	} else {
		ret = read_files_v4(t);
	}
	h->c.p = program;
	h->c.bad = false;
	return ret;
}

/* ------------------------------ the program ----------------------------- */

struct line_machine {
	uint64_t addr, line, file;
	size_t first;		/* row of this sequence */
	bool broken;		/* the addresses of the sequence fell */
};

static int emit_row(struct line_table *t, struct line_machine *m, bool end)
{
	struct dw_lines *l = t->l;
	struct dw_row *r;

	if (l->nr_rows > m->first && l->rows[l->nr_rows - 1].addr > m->addr)
		m->broken = true;
	/* the last of several rows for an address counts */
	if (l->nr_rows > m->first && l->rows[l->nr_rows - 1].addr == m->addr && !end)
		l->nr_rows--;
	if (vec_grow(&l->rows, &t->row_room, l->nr_rows, 1, sizeof(*l->rows)))
		return -ENOMEM;
	r = &l->rows[l->nr_rows++];
	r->addr = m->addr;
	r->line = m->line < UINT32_MAX ? m->line : 0;
	r->file = m->file < NO_FILE ? m->file : NO_FILE;
	return 0;
}

static int end_sequence(struct line_table *t, struct line_machine *m)
{
	struct dw_lines *l = t->l;
	struct dw_seq *s;
	int ret;

	ret = emit_row(t, m, true);
	if (ret)
		return ret;
	if (m->broken || l->nr_rows - m->first < 2 || !dw_is_code(t->dw, l->rows[m->first].addr) ||
	    l->nr_seqs == COVER_NONE) {
		l->nr_rows = m->first;
	} else {
		if (vec_grow(&l->seqs, &t->seq_room, l->nr_seqs, 1, sizeof(*l->seqs)))
			return -ENOMEM;
		s = &l->seqs[l->nr_seqs++];
		s->first = m->first;
		s->nr = l->nr_rows - m->first - 1;
	}
	memset(m, 0, sizeof(*m));
	m->line = m->file = 1;
	m->first = l->nr_rows;
	return 0;
}

static int run_extended(struct line_table *t, struct line_machine *m)
{
	struct byte_cursor *c = &t->h.c;
	uint64_t len = bytes_read_uleb(c), dir;
	const uint8_t *next;
	const char *name;
	int ret = 0;

	if (c->bad || !len || len > (uint64_t)(c->end - c->p))
		return -ENOEXEC;
	next = c->p + len;
	switch (bytes_read_uint(c, 1)) {
	case DW_LNE_end_sequence:
		ret = end_sequence(t, m);
		break;
	case DW_LNE_set_address:
		if (len - 1 > 8)
			return -ENOEXEC;
		m->addr = bytes_read_uint(c, len - 1);
		break;
	case DW_LNE_define_file:
		name = bytes_read_string(c);
		dir = bytes_read_uleb(c);
		ret = c->bad ? -ENOEXEC : add_file(t, name, dir);
		break;
	default:
		break;
	}
	c->p = next;
	return ret;
}

/* Run a standard opcode; skip an unknown one by its number of operands. */
static void run_standard(struct line_table *t, struct line_machine *m, unsigned int op)
{
	struct byte_cursor *c = &t->h.c;
	unsigned int i;

	switch (op) {
	case DW_LNS_advance_pc:
		m->addr += bytes_read_uleb(c) * t->h.min_inst;
		break;
	case DW_LNS_advance_line:
		m->line = (uint32_t)(m->line + bytes_read_sleb(c));
		break;
	case DW_LNS_set_file:
		m->file = bytes_read_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		m->addr += (255 - t->h.opcode_base) / t->h.range * t->h.min_inst;
		break;
	case DW_LNS_fixed_advance_pc:
		m->addr += bytes_read_uint(c, 2);
		break;
	default:
		for (i = 0; i < t->h.opcode_lens[op - 1]; i++)
			bytes_read_uleb(c);
		break;
	}
}

static int run_program(struct line_table *t)
{
	struct line_machine m = { .line = 1, .file = 1 };
	struct line_header *h = &t->h;
	struct byte_cursor *c = &h->c;
	int ret = 0;

	while (c->p < c->end && !ret) {
		unsigned int op = *c->p++;

		if (!dw_spend(t->dw, 1))
			return -ENOEXEC;
		if (op >= h->opcode_base) {
			op -= h->opcode_base;
			m.addr += op / h->range * h->min_inst;
			m.line = (uint32_t)(m.line + h->line_base + op % h->range);
			ret = emit_row(t, &m, false);
		} else if (!op) {
			ret = run_extended(t, &m);
		} else if (op == DW_LNS_copy) {
			ret = emit_row(t, &m, false);
		} else {
			run_standard(t, &m, op);
		}
		if (c->bad)
			ret = -ENOEXEC;
	}
	/* a sequence without an end does not count */
	t->l->nr_rows = m.first;
	return ret;
}

static int cover_seqs(struct dw_lines *l)
{
	struct cover_in *in = malloc((l->nr_seqs + 1) * sizeof(*in));
	size_t i;
	int ret;

	if (!in)
		return -ENOMEM;
	for (i = 0; i < l->nr_seqs; i++) {
		in[i].lo = l->rows[l->seqs[i].first].addr;
		in[i].hi = l->rows[l->seqs[i].first + l->seqs[i].nr].addr;
		in[i].rank = UINT32_MAX - i;
		in[i].owner = i;
	}
	ret = cover_make(&l->cover, in, l->nr_seqs);
	free(in);
	return ret;
}

int dw_read_lines(struct dw *dw, struct dw_unit *u)
{
	struct line_table t = { .dw = dw, .u = u, .l = &u->lines };
	int ret;

	if (u->lines_read)
		return u->lines_error;
	u->lines_read = true;
	ret = u->has_lines ? read_header(&t) : -ENOENT;
	if (!ret)
		ret = run_program(&t);
	if (!ret)
		ret = cover_seqs(&u->lines);
	u->lines_error = ret;
	if (ret)
		dw_free_lines(&u->lines);
	return ret;
}

void dw_free_lines(struct dw_lines *l)
{
	size_t i;

	for (i = 0; i < l->nr_files; i++)
		free(l->files[i].path);
	free(l->dirs);
	free(l->files);
	free(l->rows);
	free(l->seqs);
	free(l->cover.v);
	memset(l, 0, sizeof(*l));
}

const struct dw_row *dw_find_row(const struct dw_lines *l, uint64_t addr)
{
	uint32_t i = cover_find(&l->cover, addr);
	const struct dw_row *rows;
	size_t k;

	if (i == COVER_NONE)
		return NULL;
	rows = l->rows + l->seqs[i].first;
	bisect(k, l->seqs[i].nr, rows[k].addr > addr);
	return k ? &rows[k - 1] : NULL;
}

const char *dw_get_path(struct dw *dw, struct dw_unit *u, uint64_t file)
{
	struct dw_lines *l = &u->lines;
	const char *dir, *top = u->comp_dir;
	struct dw_line_file *f;

	if (file >= l->nr_files || !l->files[file].name)
		return NULL;
	f = &l->files[file];
	if (f->path || dw->text_budget < 0)
		return f->path;
	dir = f->dir < l->nr_dirs ? l->dirs[f->dir] : NULL;
	/* directory 0 can be the directory of the unit: do not add it twice */
	if (!dir || (!f->dir && top && !strcmp(dir, top)))
		dir = "";
	if (!top || *dir == '/')
		top = "";
	if (*f->name == '/')
		top = dir = "";
	dw->text_budget -= strlen(top) + strlen(dir) + strlen(f->name);
	if (dw->text_budget < 0)
		return NULL;
	if (asprintf(&f->path, "%s%s%s%s%s", top, *top && *dir ? "/" : "", dir,
		     *top || *dir ? "/" : "", f->name) < 0)
		f->path = NULL;
	return f->path;
}
