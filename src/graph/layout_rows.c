/*
 * layout_rows.c
 *		First step of a layout: rows, and the vertices that stand in them.
 *
 * A depth-first walk finds the lines that lead up.  With these turned round, a
 * box stands as many rows below the first one as the longest way to it has
 * lines.  Then a box whose outgoing lines are more than its incoming ones
 * moves down as far as it can, which shortens the lines.  Labels stand in rows
 * of their own, right below the boxes where their lines begin (above them, if
 * the line leads up).
 *
 * A line that passes many rows needs a knot in each.  If a picture had too
 * many knots, its longest lines are cut: they end at a label that names where
 * they lead.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "graph/layout.h"

#define MAX_KNOTS_PER_BOX	64
#define MAX_KNOTS_BASE		2000
#define MAX_ROUNDS			8		/* of moving boxes down */

typedef struct Rows
{
	SfLayoutWork *work;
	SfLayout   *layout;
	int		   *line_start;		/* by box; one more at the end */
	int		   *line_by_from;	/* lines in the order of their first box */
	int		   *sorted;			/* boxes: those above before those below */
	int		   *layer;			/* by box, labels not counted */
	int			nlayers;
	int		   *row;			/* by layer: its row, labels counted */
	int		   *trunk_from;		/* by trunk: first row that has a knot … */
	int		   *trunk_to;		/* … and last one */
	int		   *trunk_base;		/* vertex of the first knot */
} Rows;

/* Index of the trunk that a line joins. */
static int
trunk_of(const Rows *r, int line)
{
	return (r->layout->lines[line].to * 2 + r->layout->lines[line].kind) * 2 +
		r->work->upward[line];
}

/* Group the lines by the box where they begin. */
static void
group_lines(Rows *r)
{
	int			n = r->layout->nboxes;
	int		   *next;

	r->line_start = palloc0(sizeof(int) * (n + 1));
	r->line_by_from = palloc(sizeof(int) * Max(r->layout->nlines, 1));
	for (int i = 0; i < r->layout->nlines; i++)
		r->line_start[r->layout->lines[i].from + 1]++;
	for (int i = 0; i < n; i++)
		r->line_start[i + 1] += r->line_start[i];
	next = palloc(sizeof(int) * (n + 1));
	memcpy(next, r->line_start, sizeof(int) * (n + 1));
	for (int i = 0; i < r->layout->nlines; i++)
		r->line_by_from[next[r->layout->lines[i].from]++] = i;
}

/*
 * Walk depth first from a box: mark the lines that lead up, and fill sorted
 * from behind.  state: 0 unseen, 1 on the way here, 2 left.
 */
static void
walk_from(Rows *r, int box, char *state, int *next_line, int *stack, int *left)
{
	int			depth = 0;

	stack[depth++] = box;
	state[box] = 1;
	while (depth > 0)
	{
		int			at = stack[depth - 1];

		CHECK_FOR_INTERRUPTS();
		if (next_line[at] == r->line_start[at + 1])
		{
			state[at] = 2;
			r->sorted[--*left] = at;
			depth--;
		}
		else
		{
			int			line = r->line_by_from[next_line[at]++];
			int			to = r->layout->lines[line].to;

			if (state[to] == 1)
				r->work->upward[line] = true;
			else if (state[to] == 0)
			{
				state[to] = 1;
				stack[depth++] = to;
			}
		}
	}
}

/* Sort the boxes so that all lines lead on, but for those that lead up. */
static void
sort_boxes(Rows *r)
{
	int			n = r->layout->nboxes;
	char	   *state = palloc0(n);
	int		   *next_line = palloc(sizeof(int) * n);
	int		   *stack = palloc(sizeof(int) * n);
	int			left = n;

	r->sorted = palloc(sizeof(int) * n);
	memcpy(next_line, r->line_start, sizeof(int) * n);
	for (int i = 0; i < n; i++)
		if (state[i] == 0)
			walk_from(r, i, state, next_line, stack, &left);
}

/* The upper and the lower box of a line; false: both are the same. */
static bool
line_ends(const Rows *r, int line, int *upper, int *lower)
{
	const SfLayoutLine *l = &r->layout->lines[line];

	*upper = r->work->upward[line] ? l->to : l->from;
	*lower = r->work->upward[line] ? l->from : l->to;
	return l->from != l->to;
}

/*
 * Give each box its layer: one below the lowest box above it.  The lines of a
 * box are those that begin there, so lines that lead up are looked at when
 * all others are done, and change nothing.
 */
static void
assign_layers(Rows *r)
{
	int			n = r->layout->nboxes;

	r->layer = palloc0(sizeof(int) * n);
	for (int i = 0; i < n; i++)
	{
		int			box = r->sorted[i];

		CHECK_FOR_INTERRUPTS();
		for (int j = r->line_start[box]; j < r->line_start[box + 1]; j++)
		{
			int			line = r->line_by_from[j];
			int			to = r->layout->lines[line].to;

			if (!r->work->upward[line])
				r->layer[to] = Max(r->layer[to], r->layer[box] + 1);
		}
	}
}

/*
 * Move boxes down where that shortens the lines.  The room below a box is that
 * of the beginning of the round, and can only have grown since.
 */
static void
pull_down(Rows *r)
{
	int			n = r->layout->nboxes;
	int		   *surplus = palloc0(sizeof(int) * n); /* lines below less lines above */
	int		   *room = palloc(sizeof(int) * n);
	bool		moved = true;

	for (int i = 0; i < r->layout->nlines; i++)
	{
		int			upper,
					lower;

		if (!line_ends(r, i, &upper, &lower))
			continue;
		surplus[upper]++;
		surplus[lower]--;
	}
	for (int round = 0; moved && round < MAX_ROUNDS; round++)
	{
		CHECK_FOR_INTERRUPTS();
		moved = false;
		for (int i = 0; i < n; i++)
			room[i] = PG_INT32_MAX;
		for (int i = 0; i < r->layout->nlines; i++)
		{
			int			upper,
						lower;

			if (line_ends(r, i, &upper, &lower))
				room[upper] = Min(room[upper], r->layer[lower] - r->layer[upper] - 1);
		}
		for (int i = 0; i < n; i++)
		{
			if (i == r->layout->first || surplus[i] <= 0 || room[i] == 0 ||
				room[i] == PG_INT32_MAX)
				continue;
			r->layer[i] += room[i];
			moved = true;
		}
	}
}

/* Count the layers; the box that ends the picture is in the last one. */
static void
count_layers(Rows *r)
{
	for (int i = 0; i < r->layout->nboxes; i++)
		r->nlayers = Max(r->nlayers, r->layer[i] + 1);
	if (r->layout->last != SF_LAYOUT_NO_BOX)
		r->layer[r->layout->last] = r->nlayers - 1;
}

/* How many layers a line spans. */
static int
line_span(const Rows *r, int line)
{
	return abs(r->layer[r->layout->lines[line].to] -
			   r->layer[r->layout->lines[line].from]);
}

/* Count the knots that the trunks need if lines longer than a limit are cut. */
static int64
count_knots(const Rows *r, int limit, int *longest)
{
	int64		sum = 0;

	memset(longest, 0, sizeof(int) * 4 * r->layout->nboxes);
	for (int i = 0; i < r->layout->nlines; i++)
		if (line_span(r, i) <= limit)
			longest[trunk_of(r, i)] = Max(longest[trunk_of(r, i)], line_span(r, i));
	for (int i = 0; i < 4 * r->layout->nboxes; i++)
		sum += 2 * longest[i];
	return sum;
}

/* Cut the longest lines until the others need few enough knots. */
static void
cut_lines(Rows *r)
{
	int			limit = r->nlayers;
	int64		allowed = MAX_KNOTS_BASE +
		(int64) MAX_KNOTS_PER_BOX * r->layout->nboxes;
	int		   *longest = palloc(sizeof(int) * 4 * r->layout->nboxes);

	while (limit > 1 && count_knots(r, limit, longest) > allowed)
		limit /= 2;
	for (int i = 0; i < r->layout->nlines; i++)
	{
		SfLayoutLine *line = &r->layout->lines[i];

		line->cut = line_span(r, i) > limit;
		if (line->cut)
		{
			line->label_w = line->stub_w;
			line->label_h = line->stub_h;
		}
	}
}

/*
 * Does a line pass a row of its own beside its first box?  It does if it has a
 * label.  A line that leads up does in any case, so that it is not drawn on
 * top of a line that leads down between the same boxes.
 */
static bool
has_own_row(const Rows *r, int line)
{
	const SfLayoutLine *l = &r->layout->lines[line];

	return l->from != l->to && (l->label_w > 0 || r->work->upward[line]);
}

/* Number the rows: one per layer, and one between two layers that have labels there. */
static void
number_rows(Rows *r)
{
	bool	   *labels_below = palloc0(sizeof(bool) * (r->nlayers + 1));

	for (int i = 0; i < r->layout->nlines; i++)
	{
		const SfLayoutLine *line = &r->layout->lines[i];

		if (has_own_row(r, i))
			labels_below[r->layer[line->from] - (r->work->upward[i] ? 1 : 0)] = true;
	}
	r->row = palloc(sizeof(int) * r->nlayers);
	for (int i = 0; i < r->nlayers; i++)
	{
		r->row[i] = r->work->nrows++;
		if (labels_below[i])
			r->work->nrows++;
	}
}

/* The row after the first box of a line, and after its label. */
static int
row_after_label(const Rows *r, int line)
{
	const SfLayoutLine *l = &r->layout->lines[line];
	int			steps = has_own_row(r, line) ? 2 : 1;

	return r->row[r->layer[l->from]] + (r->work->upward[line] ? -steps : steps);
}

/* Note which rows a trunk needs knots in. */
static void
measure_trunks(Rows *r)
{
	int			ntrunks = 4 * r->layout->nboxes;

	r->trunk_from = palloc(sizeof(int) * ntrunks);
	r->trunk_to = palloc(sizeof(int) * ntrunks);
	r->trunk_base = palloc(sizeof(int) * ntrunks);
	for (int i = 0; i < ntrunks; i++)
	{
		int			row = r->row[r->layer[i / 4]];

		r->trunk_from[i] = i % 2 == 1 ? row + 1 : row;
		r->trunk_to[i] = i % 2 == 1 ? row : row - 1;
	}
	for (int i = 0; i < r->layout->nlines; i++)
	{
		int			trunk = trunk_of(r, i);
		int			row = row_after_label(r, i);

		if (r->layout->lines[i].cut ||
			r->layout->lines[i].from == r->layout->lines[i].to)
			continue;
		if (r->work->upward[i])
			r->trunk_to[trunk] = Max(r->trunk_to[trunk], row);
		else
			r->trunk_from[trunk] = Min(r->trunk_from[trunk], row);
	}
}

/* Add a vertex, for a box, for the label of a line, or (of is 0) for a knot. */
static int
add_vertex(Rows *r, SfVertexType type, int of, int row, int w, int h)
{
	SfLayoutWork *work = r->work;
	SfLayoutVertex *v = &work->vertices[work->nvertices];

	Assert(work->nvertices < work->max_vertices);
	memset(v, 0, sizeof(*v));
	v->type = type;
	v->of = of;
	v->next = SF_LAYOUT_NO_VERTEX;
	v->to = SF_LAYOUT_NO_BOX;
	v->row = row;
	v->w = w;
	v->h = h;
	return work->nvertices++;
}

/* Join two vertices of neighbouring rows, the second being the next on the way. */
static void
add_arc(SfLayoutWork *work, int from, int to)
{
	SfLayoutArc *arc = &work->arcs[work->narcs++];
	bool		down = work->vertices[from].row < work->vertices[to].row;

	Assert(work->narcs <= work->max_arcs);
	arc->upper = down ? from : to;
	arc->lower = down ? to : from;
	work->vertices[to].nentering++;
	if (work->vertices[from].type != SF_VERTEX_BOX)
		work->vertices[from].next = to;
}

/* Make the knots of a trunk. */
static void
add_trunk(Rows *r, int trunk)
{
	bool		upward = trunk % 2 == 1;
	int			from = r->trunk_from[trunk];
	int			n = r->trunk_to[trunk] - from + 1;

	r->trunk_base[trunk] = r->work->nvertices;
	for (int i = 0; i < n; i++)
	{
		SfLayoutVertex *v = &r->work->vertices[add_vertex(r, SF_VERTEX_KNOT, 0, from + i, 0, 0)];

		v->kind = (SfLayoutKind) (trunk / 2 % 2);
		v->upward = upward;
		v->to = trunk / 4;
	}
	for (int i = 0; i < n; i++)
	{
		int			knot = r->trunk_base[trunk] + i;

		if (upward)
			add_arc(r->work, knot, i == 0 ? trunk / 4 : knot - 1);
		else
			add_arc(r->work, knot, i == n - 1 ? trunk / 4 : knot + 1);
	}
}

/* Lead a line from its box by its label to its trunk, or straight to the other box. */
static void
add_line(Rows *r, int line)
{
	const SfLayoutLine *l = &r->layout->lines[line];
	bool		upward = r->work->upward[line];
	int			row = row_after_label(r, line);
	int			at = l->from;
	int			next;

	r->work->first[line] = SF_LAYOUT_NO_VERTEX;
	if (l->from == l->to)
		return;
	if (has_own_row(r, line))
	{
		SfLayoutVertex *v;

		at = add_vertex(r, SF_VERTEX_LABEL, line, row + (upward ? 1 : -1), l->label_w, l->label_h);
		v = &r->work->vertices[at];
		v->kind = l->kind;
		v->upward = upward;
		v->to = l->to;
		add_arc(r->work, l->from, at);
		r->work->first[line] = at;
	}
	if (l->cut)
		return;
	next = row == r->row[r->layer[l->to]] ? l->to :
		r->trunk_base[trunk_of(r, line)] + row - r->trunk_from[trunk_of(r, line)];
	add_arc(r->work, at, next);
	if (r->work->first[line] == SF_LAYOUT_NO_VERTEX)
		r->work->first[line] = next;
}

/* Make all vertices and arcs. */
static void
add_vertices(Rows *r)
{
	SfLayoutWork *work = r->work;
	int			nknots = 0;

	for (int i = 0; i < 4 * r->layout->nboxes; i++)
		nknots += Max(0, r->trunk_to[i] - r->trunk_from[i] + 1);
	work->max_vertices = r->layout->nboxes + r->layout->nlines + nknots;
	work->vertices = palloc(sizeof(SfLayoutVertex) * work->max_vertices);
	work->max_arcs = 2 * r->layout->nlines + nknots;
	work->arcs = palloc(sizeof(SfLayoutArc) * Max(work->max_arcs, 1));
	work->first = palloc(sizeof(int) * Max(r->layout->nlines, 1));
	for (int i = 0; i < r->layout->nboxes; i++)
	{
		const SfLayoutBox *box = &r->layout->boxes[i];

		(void) add_vertex(r, SF_VERTEX_BOX, i, r->row[r->layer[i]], box->w, box->h);
	}
	for (int i = 0; i < 4 * r->layout->nboxes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_trunk(r, i);
	}
	for (int i = 0; i < r->layout->nlines; i++)
		add_line(r, i);
}

/*
 * Make the vertices of boxes that have a loop beside them larger: wider by the
 * same on both sides, and as high as the label.
 */
static void
make_room_for_loops(SfLayoutWork *work)
{
	for (int i = 0; i < work->layout->nlines; i++)
	{
		const SfLayoutLine *line = &work->layout->lines[i];
		SfLayoutVertex *v = &work->vertices[line->from];

		if (line->from != line->to)
			continue;
		v->w = Max(v->w, work->layout->boxes[line->from].w +
				   2 * (SF_LAYOUT_LOOP + line->label_w));
		v->h = Max(v->h, line->label_h);
	}
}

/* List the neighbours of each vertex. */
static void
list_neighbours(SfLayoutWork *work)
{
	int			n = 0;

	for (int i = 0; i < work->narcs; i++)
	{
		work->vertices[work->arcs[i].upper].ndown++;
		work->vertices[work->arcs[i].lower].nup++;
	}
	work->neighbours = palloc(sizeof(int) * Max(2 * work->narcs, 1));
	for (int i = 0; i < work->nvertices; i++)
	{
		SfLayoutVertex *v = &work->vertices[i];

		v->first_up = n;
		v->first_down = n + v->nup;
		n += v->nup + v->ndown;
		v->nup = v->ndown = 0;
	}
	for (int i = 0; i < work->narcs; i++)
	{
		SfLayoutVertex *upper = &work->vertices[work->arcs[i].upper];
		SfLayoutVertex *lower = &work->vertices[work->arcs[i].lower];

		work->neighbours[upper->first_down + upper->ndown++] = work->arcs[i].lower;
		work->neighbours[lower->first_up + lower->nup++] = work->arcs[i].upper;
	}
}

/* Put boxes, labels and knots into rows, and join them. */
void
sf_layout_rows(SfLayoutWork *work)
{
	Rows		r = {.work = work, .layout = work->layout};

	work->upward = palloc0(sizeof(bool) * Max(work->layout->nlines, 1));
	group_lines(&r);
	sort_boxes(&r);
	assign_layers(&r);
	pull_down(&r);
	count_layers(&r);
	cut_lines(&r);
	number_rows(&r);
	measure_trunks(&r);
	add_vertices(&r);
	make_room_for_loops(work);
	list_neighbours(work);
}
