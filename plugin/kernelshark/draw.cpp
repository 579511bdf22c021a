// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * draw.cpp - shapes in KernelShark's plots. See kernelshark.h.
 *
 * All shapes are in the free strip above a plot, where they hide nothing: a triangle for a request,
 * a square for a stack, and a line from one to the other with the time between them. On plots of
 * CPUs each task has a lane of its own, so that two tasks that wait at the same time stay apart.
 *
 * KernelShark draws one plot after the other and frees all shapes before it draws again. A line
 * between two plots needs the position of both. So each plot leaves a Place among its shapes, which
 * holds its position, and the later plot finishes the line.
 *
 * The program that loads the plugin has all classes used here. Without its window, the program
 * lacks some symbols. These are weak here, so that loading never fails.
 */
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <KsPlugins.hpp>
#include <KsPluginsGUI.hpp>

#include "kernelshark.h"

#pragma GCC visibility push(default)
void markEntryA(void *ks_ptr, const kshark_entry *e) __attribute__((weak));
void markEntryB(void *ks_ptr, const kshark_entry *e) __attribute__((weak));
#pragma GCC visibility pop

namespace {

/* KernelShark leaves 20 pixels free above a plot, and most of the upper third of the plot. */
const int NR_LANES = 3;
const int LANE = 5;
const int MARK = 4;		/* half a mark's width */
const int TEXT_SIZE = 12;
const double NEAR = 4;		/* a click at this distance from a line selects the line */

/* The last double click set marker A on this entry. It is only compared, never dereferenced. */
const kshark_entry *last_a;

KsPlot::Color make_colour(uint32_t rgb)
{
	return KsPlot::Color(rgb >> 16 & 0xff, rgb >> 8 & 0xff, rgb & 0xff);
}

/* Setting a marker may draw all shapes again and free the shape that was clicked. */
void jump_to(const shark_jump jump)
{
	void *window = shark_get_window();

	if (!window || !markEntryA || !markEntryB)
		return;
	if (jump.a && !jump.a_last)
		markEntryA(window, jump.a);
	if (jump.b)
		markEntryB(window, jump.b);
	if (jump.a && jump.a_last)
		markEntryA(window, jump.a);
	if (jump.a)
		last_a = jump.a;
}

/* The position of the plot of a CPU or task. It draws nothing. */
class Place : public KsPlot::PlotObject {
public:
	Place(int sd, bool task, int val, int top)
		: _sd(sd), _val(val), _top(top), _task(task)
	{
		_visible = false;
	}

	int _sd, _val, _top;
	bool _task;

private:
	void _draw(const KsPlot::Color &, float) const override {}
};

int get_lane_y(int top, bool task, uint32_t tid)
{
	int lane = task ? 1 : (tid * 2654435761u >> 16) % NR_LANES;

	return top + MARK / 2 - LANE * lane;
}

class RequestMark : public KsPlot::Triangle {
public:
	RequestMark(const shark_model *m, uint32_t request) : _m(m), _request(request) {}

	double distance(int x, int y) const override
	{
		return std::hypot(pointX(0) - x, pointY(0) - MARK - y);
	}

private:
	void _doubleClick() const override
	{
		shark_jump jump;

		shark_jump_from_request(_m, _request, &jump);
		jump_to(jump);
	}

	const shark_model *_m;
	uint32_t _request;
};

class StackMark : public KsPlot::Rectangle {
public:
	StackMark(const shark_model *m, uint32_t stack) : _m(m), _stack(stack) {}

	double distance(int x, int y) const override
	{
		return std::hypot((pointX(0) + pointX(2)) / 2.0 - x,
				  (pointY(0) + pointY(2)) / 2.0 - y);
	}

private:
	void _doubleClick() const override
	{
		shark_jump jump;

		shark_jump_from_stack(_m, _stack, last_a, &jump);
		jump_to(jump);
	}

	const shark_model *_m;
	uint32_t _stack;
};

class WaitLine : public KsPlot::Line {
public:
	WaitLine(const shark_model *m, const shark_wait &w, int ax, int ay, int bx, int by)
		: _m(m), _w(w), _open(w.elsewhere)
	{
		setA(ax, ay);
		setB(bx, by);
		_color = make_colour(shark_get_colour((shark_outcome)w.outcome));
		_size = 2;
	}

	/* Does the line end on that plot, which is drawn after this one? */
	bool ends_at(const Place &p) const
	{
		const shark_stack *s = get_stack();

		return _open && s && s->sd == p._sd &&
		       (p._task ? (int)s->entry->pid : (int)s->entry->cpu) == p._val;
	}

	void end_at(const Place &p)
	{
		setB(pointX(1), get_lane_y(p._top, p._task, get_stack()->tid));
		_open = false;
	}

	double distance(int x, int y) const override
	{
		double dx = pointX(1) - pointX(0), dy = pointY(1) - pointY(0);
		double len = dx * dx + dy * dy, t, d;

		if (len == 0)
			return std::numeric_limits<double>::max();
		t = ((x - pointX(0)) * dx + (y - pointY(0)) * dy) / len;
		t = t < 0 ? 0 : t > 1 ? 1 : t;
		d = std::hypot(pointX(0) + t * dx - x, pointY(0) + t * dy - y);
		/* a mark is preferred to a line, so add NEAR */
		return d <= NEAR ? d + NEAR : std::numeric_limits<double>::max();
	}

private:
	const shark_stack *get_stack() const
	{
		return shark_get_stack(_m, shark_get_request(_m, _w.request)->stack);
	}

	void _doubleClick() const override
	{
		shark_jump jump;

		shark_jump_from_request(_m, _w.request, &jump);
		jump_to(jump);
	}

	void _draw(const KsPlot::Color &col, float size) const override
	{
		KsPlot::Point a(pointX(0), pointY(0)), b(pointX(1), pointY(1));

		if (_w.outcome == SHARK_PENDING || _open)
			KsPlot::drawDashedLine(a, b, col, size, 8);
		else
			KsPlot::drawLine(a, b, col, size);
	}

	const shark_model *_m;
	shark_wait _w;
	bool _open;
};

/*
 * The time on a line, if the line has room for it. It is next to the request, because several lines
 * may end in one stack. It lives as long as its line, and is drawn after it.
 */
class WaitText : public KsPlot::PlotObject {
public:
	WaitText(const WaitLine *line, int64_t ns) : _line(line)
	{
		shark_format_duration(ns, _text, sizeof(_text));
	}

private:
	void _draw(const KsPlot::Color &, float) const override
	{
		static ksplot_font font;
		static bool tried;
		const ksplot_color white = { 255, 255, 255 }, black = { 0, 0, 0 };
		int ax = _line->pointX(0), ay = _line->pointY(0);
		int dx = _line->pointX(1) - ax, dy = _line->pointY(1) - ay;
		int x, y, width = 2 * MARK;
		ksplot_point box[4];
		const char *c;

		if (!tried)
			ksplot_init_font(&font, TEXT_SIZE, TT_FONT_FILE);
		tried = true;
		if (!ksplot_font_is_loaded(&font))
			return;
		for (c = _text; *c; c++)
			width += font.cdata[*c - KS_SPACE_CHAR].xadvance;
		if (width + 5 * MARK > dx)
			return;
		x = ax + 3 * MARK;
		y = ay + dy * (3 * MARK + width / 2) / dx;
		box[0] = { x, y - TEXT_SIZE / 2 };
		box[1] = { x, y + TEXT_SIZE / 2 };
		box[2] = { x + width, y + TEXT_SIZE / 2 };
		box[3] = { x + width, y - TEXT_SIZE / 2 };
		ksplot_draw_polygon(box, 4, &white, 1);
		ksplot_print_text(&font, &black, x + MARK, y + TEXT_SIZE / 3, _text);
	}

	const WaitLine *_line;
	char _text[32];
};

/* One plot, while it is drawn. */
class Plot {
public:
	Plot(const shark_model *m, KsCppArgV *argv, int sd, bool task, int val)
		: _m(m), _graph(argv->_graph), _histo(argv->_histo), _shapes(argv->_shapes),
		  _sd(sd), _val(val), _task(task)
	{
		_top = _graph->base() - _graph->height();
		find_earlier_shapes();
	}

	void draw()
	{
		shark_window win = {
			_histo->min, _histo->max, _histo->bin_size,
			_histo->data_size ? _histo->data[_histo->data_size - 1]->ts : _histo->max,
			_graph->size() < _histo->n_bins ? _graph->size() : _histo->n_bins
		};
		std::vector<WaitLine *> lines;
		struct shark_view view;
		size_t i;

		shark_make_view(_m, _sd, _task, _val, &win, &view);
		/* the list is drawn from its front, so older entries cover a new one */
		for (i = 0; i < view.nr_waits; i++)
			lines.push_back(make_wait_line(view.waits[i]));
		for (i = 0; i < view.nr_waits; i++)
			_shapes->push_front(new WaitText(lines[i], view.waits[i].ns));
		for (i = 0; i < view.nr_requests; i++)
			if (view.requests[i].outcome != SHARK_JOINED)
				add_request_mark(view.requests[i]);
		for (i = 0; i < view.nr_requests; i++)
			if (view.requests[i].outcome == SHARK_JOINED)
				add_request_mark(view.requests[i]);
		for (i = 0; i < view.nr_stacks; i++)
			add_stack_mark(view.stacks[i]);
		for (WaitLine *line : lines)
			_shapes->push_front(line);
		shark_free_view(&view);
		add_place();
	}

private:
	void find_earlier_shapes()
	{
		for (KsPlot::PlotObject *s : *_shapes) {
			if (Place *p = dynamic_cast<Place *>(s))
				_places.push_back(p);
			else if (WaitLine *w = dynamic_cast<WaitLine *>(s))
				_lines.push_back(w);
		}
	}

	int get_x(int bin) const
	{
		int last = _graph->size() - 1;

		return _graph->bin(bin < 0 ? 0 : bin > last ? last : bin)._base.x();
	}

	int get_y(uint32_t tid) const
	{
		return get_lane_y(_top, _task, tid);
	}

	void add_request_mark(const shark_mark &mark)
	{
		const shark_request *r = shark_get_request(_m, mark.index);
		RequestMark *s = new RequestMark(_m, mark.index);
		int mx = get_x(mark.bin), my = get_y(r->tid);

		s->setPoint(0, mx, my + MARK);
		s->setPoint(1, mx + MARK + 1, my - MARK);
		s->setPoint(2, mx - MARK - 1, my - MARK);
		s->setFill(mark.outcome == SHARK_JOINED);
		s->_color = make_colour(shark_get_colour((shark_outcome)mark.outcome));
		s->_size = 2;
		_shapes->push_front(s);
	}

	void add_stack_mark(const shark_mark &mark)
	{
		const shark_stack *st = shark_get_stack(_m, mark.index);
		StackMark *s = new StackMark(_m, mark.index);
		int mx = get_x(mark.bin), my = get_y(st->tid);

		s->setPoint(0, mx - MARK, my - MARK);
		s->setPoint(1, mx - MARK, my + MARK);
		s->setPoint(2, mx + MARK, my + MARK);
		s->setPoint(3, mx + MARK, my - MARK);
		s->setFill(!mark.outcome);
		s->_color = make_colour(SHARK_STACK_COLOUR);
		s->_size = 2;
		_shapes->push_front(s);
	}

	WaitLine *make_wait_line(const shark_wait &w)
	{
		const shark_request *r = shark_get_request(_m, w.request);
		WaitLine *s = new WaitLine(_m, w, get_x(w.from), get_y(r->tid), get_x(w.to),
					   get_y(r->tid));

		for (const Place *p : _places) {
			if (p->_task == _task && s->ends_at(*p)) {
				s->end_at(*p);
				break;
			}
		}
		return s;
	}

	void add_place()
	{
		Place *p = new Place(_sd, _task, _val, _top);

		for (WaitLine *w : _lines)
			if (w->ends_at(*p))
				w->end_at(*p);
		_shapes->push_front(p);
	}

	const shark_model *_m;
	KsPlot::Graph *_graph;
	kshark_trace_histo *_histo;
	KsPlot::PlotObjList *_shapes;
	int _sd, _val, _top;
	bool _task;
	std::vector<Place *> _places;
	std::vector<WaitLine *> _lines;
};

} /* namespace */

void shark_draw(struct kshark_cpp_argv *argv, int sd, int val, int action)
{
	shark_model *m = shark_get_model(sd);
	KsCppArgV *cpp = KS_ARGV_TO_CPP(argv);

	if (!m || !(action & (KSHARK_CPU_DRAW | KSHARK_TASK_DRAW)) || !cpp->_graph->size())
		return;
	Plot(m, cpp, sd, action & KSHARK_TASK_DRAW, val).draw();
}
