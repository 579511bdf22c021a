// SPDX-License-Identifier: GPL-2.0
/* svg.c - draw a flame graph: title, controls, frames and legend. See svg.h. */
#include <stdlib.h>
#include <string.h>

#include "trace-cmd-ext/tool/tool.h"
#include "colour.h"
#include "svg.h"
#include "libunwind-user/base/base.h"

#define ROW	16
#define MARGIN	10
#define CHAR	6.63		/* of the font, 11 pixels high */
#define LEGEND	20

/* flame.js as a string, see build.mk */
static const char flame_js[] =
#include "flame_js.h"
;

static const char style[] =
	"text{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#000}\n"
	"#title{font:600 18px system-ui,'DejaVu Sans',Verdana,sans-serif;fill:#1b1f24}\n"
	".note,#hint,#details,#matched,.legend{fill:#444c56;"
	"font:12px system-ui,'DejaVu Sans',Verdana,sans-serif}\n"
	"#details{fill:#000}#matched{fill:#8a0a6c;font-weight:600}\n"
	"#frames rect{rx:2px;stroke:#fff;stroke-width:.6px}\n"
	".live #frames g{cursor:pointer}\n"
	".live #frames g:hover rect,.live #frames g.chosen rect{stroke:#000;stroke-width:1.2px}\n"
	"#frames text{pointer-events:none}\n"
	"#frames g.above{opacity:.55}\n"
	"#frames g.match rect{fill:#f36bd5}\n"
	".controls{display:flex;gap:8px;justify-content:flex-end;font:12px system-ui,sans-serif}\n"
	".controls input,.controls button{font:inherit;height:24px;box-sizing:border-box;"
	"border:1px solid #8c959f;border-radius:5px;background:#fff;color:#1b1f24;padding:0 8px}\n"
	".controls input{width:180px}.controls button{cursor:pointer}\n";

/* ---- text ---- */

void svg_put_text(FILE *out, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t len = strlen(str), i = 0, n;

	while (i < len) {
		n = utf8_length(s + i, len - i);
		/* XML 1.0, section 2.2: no control characters, no U+FFFE and U+FFFF */
		if (!n || (s[i] < ' ' && s[i] != '\t' && s[i] != '\n') || s[i] == 0x7f ||
		    (n == 3 && s[i] == 0xef && s[i + 1] == 0xbf && s[i + 2] >= 0xbe)) {
			fputs("\xef\xbf\xbd", out);
			i += n ? n : 1;
			continue;
		}
		switch (s[i]) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&#39;", out); break;
		default: fwrite(s + i, 1, n, out); break;
		}
		i += n;
	}
}

const char *svg_format_number(char *buf, uint64_t n)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), i, to = 0;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[to++] = ',';
		buf[to++] = digits[i];
	}
	buf[to] = '\0';
	return buf;
}

const char *svg_format_time(char *buf, uint64_t ns)
{
	if (ns < 10000)
		snprintf(buf, 64, "%llu ns", (unsigned long long)ns);
	else if (ns < 10000000)
		snprintf(buf, 64, "%.1f us", ns / 1e3);
	else if (ns < 10000000000)
		snprintf(buf, 64, "%.1f ms", ns / 1e6);
	else
		snprintf(buf, 64, "%.2f s", ns / 1e9);
	return buf;
}

/* ---- colours ---- */

/* The hue of each file. Heavier files choose first. */
struct hues {
	uint32_t *hue;			/* by file */
	uint32_t *order;		/* heaviest first */
	double *weight;			/* by file: of the frames in the picture */
	uint32_t nr;
};

static int compare_weights(const void *a, const void *b, void *arg)
{
	const struct hues *h = arg;
	double x = h->weight[*(const uint32_t *)a], y = h->weight[*(const uint32_t *)b];

	RETURN_IF_DIFFERENT(y, x);
	return cmp_int(*(const uint32_t *)a, *(const uint32_t *)b);
}

static bool find_hues(struct hues *h, const struct tree *t, const struct fold *f, int by)
{
	const struct fold_name *name;
	size_t i;

	h->nr = fold_get_nr_files(f);
	h->hue = calloc(h->nr, sizeof(*h->hue));
	h->order = calloc(h->nr, sizeof(*h->order));
	h->weight = calloc(h->nr, sizeof(*h->weight));
	if (!h->hue || !h->order || !h->weight)
		return false;
	for (i = 0; i < t->nr; i++) {
		name = fold_get_name(f, t->nodes[i].name);
		if (name->kind == FOLD_USER && name->file)
			h->weight[name->file] += t->nodes[i].value[by];
	}
	for (i = 0; i < h->nr; i++)
		h->order[i] = i;
	qsort_r(h->order, h->nr, sizeof(*h->order), compare_weights, h);
	for (i = 0; i < h->nr; i++)
		h->hue[h->order[i]] = i;
	return true;
}

static uint32_t get_shade(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h >> 13;
}

static struct colour choose_colour(const struct fold_name *n, const struct hues *h)
{
	if (n->kind == FOLD_USER && !n->file)
		return colour_unknown();
	return colour_frame(n->kind, h->hue[n->file], get_shade(n->text));
}

/* ---- the parts of the picture ---- */

struct picture {
	FILE *out;
	const struct tree *t;
	const struct fold *f;
	const struct svg_opts *o;
	struct hues hues;
	unsigned int top, height;	/* top of the frames, height of the picture */
	unsigned int legend;		/* its first line */
};

/* A percentage with enough digits to distinguish neighbours. */
static void put_percent(FILE *out, uint64_t part, uint64_t total)
{
	char buf[40], *end;

	end = buf + snprintf(buf, sizeof(buf), "%.8f", total ? 100.0 * part / total : 0);
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	fprintf(out, "%s%%", buf);
}

/* Write a number with its unit: "2 waits", "1 wait". */
static void put_quantity(FILE *out, uint64_t v, const char *unit)
{
	char buf[64];

	fprintf(out, "%s %.*s", svg_format_number(buf, v), (int)strlen(unit) - (v == 1), unit);
}

static void put_amount(const struct picture *p, uint64_t v, const char *unit)
{
	char a[64], b[64];

	if (!strcmp(unit, "ns"))
		fprintf(p->out, "%s (%s ns)", svg_format_time(a, v), svg_format_number(b, v));
	else
		put_quantity(p->out, v, unit);
}

static void put_tooltip(const struct picture *p, const struct tree_node *n)
{
	const struct fold_name *name = fold_get_name(p->f, n->name);
	const struct svg_opts *o = p->o;
	FILE *out = p->out;
	double before, after;

	fputs("<title>", out);
	svg_put_text(out, name->text);
	if (name->file) {
		fputs(" (", out);
		svg_put_text(out, fold_get_path(p->f, name->file));
		fputc(')', out);
	} else if (name->kind == FOLD_KERNEL) {
		fputs(" (kernel)", out);
	}
	if (name->kind == FOLD_INLINED)
		fputs(" inlined", out);
	fputc('\n', out);
	put_amount(p, n->value[o->by], o->unit);
	fprintf(out, ", %.2f%%", 100.0 * n->value[o->by] / p->t->total[o->by]);
	if (o->diff) {
		before = n->value[0] * o->scale;
		after = n->value[1];
		fputs("; before: ", out);
		put_amount(p, n->value[0], o->unit);
		if (before > 0)
			fprintf(out, ", %+.1f%%", 100 * (after - before) / before);
		else
			fputs(", new", out);
	} else if (o->other_unit) {
		fputs(", ", out);
		put_quantity(out, n->value[!o->by], o->other_unit);
	}
	fputs("</title>", out);
}

/* Write as much of the name as fits into the frame. */
static void put_frame_text(const struct picture *p, const struct tree_node *n, unsigned int y)
{
	const char *s = fold_get_name(p->f, n->name)->text;
	double width = (double)(p->o->width - 2 * MARGIN) * n->value[p->o->by] /
		       p->t->total[p->o->by] - 6;
	size_t room = width > 0 ? width / CHAR : 0, chars = 0, i, len = strlen(s), cut = 0, c;
	char buf[600];

	if (room < 3)
		return;
	for (i = 0; i < len && i < sizeof(buf) - 8; i += c, chars++) {
		c = utf8_length((const unsigned char *)s + i, len - i);
		c = c ? c : 1;
		if (chars < room - 1)
			cut = i + c;
		if (chars == room)
			break;
	}
	if (i < len) {
		memcpy(buf, s, cut);
		memcpy(buf + cut, "\xe2\x80\xa6", 4);
		s = buf;
	}
	fputs("<text x=\"", p->out);
	put_percent(p->out, n->start, p->t->total[p->o->by]);
	fprintf(p->out, "\" dx=\"3\" y=\"%u\">", y + 11);
	svg_put_text(p->out, s);
	fputs("</text>", p->out);
}

static void put_frame(const struct picture *p, const struct tree_node *n)
{
	const struct svg_opts *o = p->o;
	uint32_t row = o->icicle ? n->depth : p->t->depth - 1 - n->depth;
	unsigned int y = p->top + row * ROW;
	struct colour c = o->diff ? colour_diff(n->value[0] * o->scale, n->value[1]) :
				    choose_colour(fold_get_name(p->f, n->name), &p->hues);

	fprintf(p->out, "<g data-d=\"%u\">", n->depth);
	put_tooltip(p, n);
	fputs("<rect x=\"", p->out);
	put_percent(p->out, n->start, p->t->total[o->by]);
	fputs("\" width=\"", p->out);
	put_percent(p->out, n->value[o->by], p->t->total[o->by]);
	fprintf(p->out, "\" y=\"%u\" height=\"%u\" fill=\"#%02x%02x%02x\"/>", y, ROW - 1, c.r, c.g,
		c.b);
	put_frame_text(p, n, y);
	fputs("</g>\n", p->out);
}

/* Write an entry of the legend at *@x, *@y, or on a new line; moves both to the next entry. */
static void put_legend_entry(const struct picture *p, struct colour c, const char *name,
			     unsigned int *x, unsigned int *y, bool draw)
{
	unsigned int width = 28 + strlen(name) * 6.8;

	if (*x + width > p->o->width - MARGIN && *x > MARGIN) {
		*x = MARGIN;
		*y += LEGEND;
	}
	if (draw) {
		fprintf(p->out, "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" rx=\"2\" "
			"fill=\"#%02x%02x%02x\" stroke=\"#8c959f\" stroke-width=\".5\"/>"
			"<text class=\"legend\" x=\"%u\" y=\"%u\">", *x, *y, c.r, c.g, c.b, *x + 17,
			*y + 10);
		svg_put_text(p->out, name);
		fputs("</text>\n", p->out);
	}
	*x += width;
}

/* Returns the height of the legend, and writes the legend if @draw is true. */
static unsigned int put_legend(const struct picture *p, bool draw)
{
	static const char *const kinds[] = { "task", NULL, "kernel", "missing", "woken by",
					     "event", NULL };
	unsigned int x = MARGIN, y = p->legend;
	bool seen[FOLD_NR_KINDS] = { false }, unknown = false;
	const struct fold_name *n;
	uint32_t i, file;
	size_t k;

	if (p->o->diff) {
		put_legend_entry(p, colour_diff(0, 1), "more than before", &x, &y, draw);
		put_legend_entry(p, colour_diff(1, 1), "as before", &x, &y, draw);
		put_legend_entry(p, colour_diff(1, 0), "less", &x, &y, draw);
		return y - p->legend + LEGEND;
	}
	for (k = 0; k < p->t->nr; k++) {
		n = fold_get_name(p->f, p->t->nodes[k].name);
		seen[n->kind] = true;
		unknown |= n->kind == FOLD_USER && !n->file;
	}
	for (i = 0; i < FOLD_NR_KINDS; i++)
		if (seen[i] && kinds[i])
			put_legend_entry(p, colour_frame(i, 0, 1), kinds[i], &x, &y, draw);
	if (unknown)
		put_legend_entry(p, colour_unknown(), "no mapping", &x, &y, draw);
	for (i = 0; i < p->hues.nr && i < COLOUR_FILES; i++) {
		file = p->hues.order[i];
		if (file && p->hues.weight[file] > 0)
			put_legend_entry(p, colour_frame(FOLD_USER, i, 1),
					 text_base_name(fold_get_path(p->f, file)), &x, &y, draw);
	}
	return y - p->legend + LEGEND;
}

static void put_head(const struct picture *p)
{
	const struct svg_opts *o = p->o;
	unsigned int i, y = 52;
	FILE *out = p->out;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" data-row=\"%d\" data-up=\"%d\" role=\"group\" "
		"aria-labelledby=\"title\">\n", o->width, p->height, o->width, p->height, ROW,
		!o->icicle);
	fprintf(out, "<style>\n%s</style>\n", style);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	fprintf(out, "<text id=\"title\" x=\"%d\" y=\"30\">", MARGIN);
	svg_put_text(out, o->title);
	fputs("</text>\n", out);
	for (i = 0; i < SVG_NOTES && o->notes[i]; i++, y += 17) {
		fprintf(out, "<text class=\"note\" x=\"%d\" y=\"%u\">", MARGIN, y);
		svg_put_text(out, o->notes[i]);
		fputs("</text>\n", out);
	}
	fprintf(out, "<text id=\"details\" role=\"status\" aria-live=\"polite\" x=\"%d\" y=\"%u\">"
		"</text>\n", MARGIN, y + 2);
	fputs("<text id=\"matched\" x=\"100%\" dx=\"-10\" y=\"54\" text-anchor=\"end\"></text>\n",
	      out);
}

static unsigned int get_head_height(const struct svg_opts *o)
{
	unsigned int i = 0;

	while (i < SVG_NOTES && o->notes[i])
		i++;
	return 52 + 17 * i + 12;
}

void svg_write(FILE *out, const struct tree *t, const struct fold *f, const struct svg_opts *o)
{
	struct picture p = { .out = out, .t = t, .f = f, .o = o, .top = get_head_height(o) };
	size_t i;

	p.legend = p.top + t->depth * ROW + 14;
	if (find_hues(&p.hues, t, f, o->by)) {
		p.height = p.legend + put_legend(&p, false) + 22;
		put_head(&p);
		fprintf(out, "<svg id=\"frames\" x=\"%d\" y=\"0\" width=\"%u\" height=\"%u\">\n",
			MARGIN, o->width - 2 * MARGIN, p.height);
		for (i = 0; i < t->nr; i++)
			put_frame(&p, &t->nodes[i]);
		fputs("</svg>\n", out);
		put_legend(&p, true);
		fprintf(out, "<text id=\"hint\" x=\"%d\" y=\"%u\"></text>\n", MARGIN,
			p.height - 10);
		fputs("<script><![CDATA[\n", out);
		fwrite(flame_js, 1, sizeof(flame_js) - 1, out);
		fputs("]]></script>\n</svg>\n", out);
	}
	free(p.hues.hue);
	free(p.hues.order);
	free(p.hues.weight);
}
