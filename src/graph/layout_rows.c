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
trunk_of(const Rows *rows, int line)
{
	return (rows->layout->lines[line].to * 2 + rows->layout->lines[line].kind) * 2 +
		rows->work->upward[line];
}

/* Group the lines by the box where they begin. */
static void
group_lines(Rows *rows)
{
	int			n = rows->layout->nboxes;
	int		   *next;

	rows->line_start = palloc0(sizeof(int) * (n + 1));
	rows->line_by_from = palloc(sizeof(int) * Max(rows->layout->nlines, 1));
	for (int i = 0; i < rows->layout->nlines; i++)
		rows->line_start[rows->layout->lines[i].from + 1]++;
	for (int i = 0; i < n; i++)
		rows->line_start[i + 1] += rows->line_start[i];
	next = palloc(sizeof(int) * (n + 1));
	memcpy(next, rows->line_start, sizeof(int) * (n + 1));
	for (int i = 0; i < rows->layout->nlines; i++)
		rows->line_by_from[next[rows->layout->lines[i].from]++] = i;
}

/*
 * Walk depth first from a box: mark the lines that lead up, and fill sorted
 * from behind.  state: 0 unseen, 1 on the way here, 2 left.
 */
static void
walk_from(Rows *rows, int box, char *state, int *next_line, int *stack, int *left)
{
	int			depth = 0;

	stack[depth++] = box;
	state[box] = 1;
	while (depth > 0)
	{
		int			at = stack[depth - 1];

		CHECK_FOR_INTERRUPTS();
		if (next_line[at] == rows->line_start[at + 1])
		{
			state[at] = 2;
			rows->sorted[--*left] = at;
			depth--;
		}
		else
		{
			int			line = rows->line_by_from[next_line[at]++];
			int			to = rows->layout->lines[line].to;

			if (state[to] == 1)
				rows->work->upward[line] = true;
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
sort_boxes(Rows *rows)
{
	int			n = rows->layout->nboxes;
	char	   *state = palloc0(n);
	int		   *next_line = palloc(sizeof(int) * n);
	int		   *stack = palloc(sizeof(int) * n);
	int			left = n;

	rows->sorted = palloc(sizeof(int) * n);
	memcpy(next_line, rows->line_start, sizeof(int) * n);
	for (int i = 0; i < n; i++)
		if (state[i] == 0)
			walk_from(rows, i, state, next_line, stack, &left);
}

/* The upper and the lower box of a line; false: both are the same. */
static bool
line_ends(const Rows *rows, int line, int *upper, int *lower)
{
	const SfLayoutLine *l = &rows->layout->lines[line];

	*upper = rows->work->upward[line] ? l->to : l->from;
	*lower = rows->work->upward[line] ? l->from : l->to;
	return l->from != l->to;
}

/*
 * Give each box its layer: one below the lowest box above it.  The lines of a
 * box are those that begin there, so lines that lead up are looked at when
 * all others are done, and change nothing.
 */
static void
assign_layers(Rows *rows)
{
	int			n = rows->layout->nboxes;

	rows->layer = palloc0(sizeof(int) * n);
	for (int i = 0; i < n; i++)
	{
		int			box = rows->sorted[i];

		CHECK_FOR_INTERRUPTS();
		for (int j = rows->line_start[box]; j < rows->line_start[box + 1]; j++)
		{
			int			line = rows->line_by_from[j];
			int			to = rows->layout->lines[line].to;

			if (!rows->work->upward[line])
				rows->layer[to] = Max(rows->layer[to], rows->layer[box] + 1);
		}
	}
}

/*
 * Move boxes down where that shortens the lines.  The room below a box is that
 * of the beginning of the round, and can only have grown since.
 */
static void
pull_down(Rows *rows)
{
	int			n = rows->layout->nboxes;
	int		   *surplus = palloc0(sizeof(int) * n); /* lines below less lines above */
	int		   *room = palloc(sizeof(int) * n);
	bool		moved = true;

	for (int i = 0; i < rows->layout->nlines; i++)
	{
		int			upper,
					lower;

		if (!line_ends(rows, i, &upper, &lower))
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
		for (int i = 0; i < rows->layout->nlines; i++)
		{
			int			upper,
						lower;

			if (line_ends(rows, i, &upper, &lower))
				room[upper] = Min(room[upper], rows->layer[lower] - rows->layer[upper] - 1);
		}
		for (int i = 0; i < n; i++)
		{
			if (i == rows->layout->first || surplus[i] <= 0 || room[i] == 0 ||
				room[i] == PG_INT32_MAX)
				continue;
			rows->layer[i] += room[i];
			moved = true;
		}
	}
}

/* Count the layers; the box that ends the picture is in the last one. */
static void
count_layers(Rows *rows)
{
	for (int i = 0; i < rows->layout->nboxes; i++)
		rows->nlayers = Max(rows->nlayers, rows->layer[i] + 1);
	if (rows->layout->last != SF_LAYOUT_NO_BOX)
		rows->layer[rows->layout->last] = rows->nlayers - 1;
}

/* How many layers a line spans. */
static int
line_span(const Rows *rows, int line)
{
	return abs(rows->layer[rows->layout->lines[line].to] -
			   rows->layer[rows->layout->lines[line].from]);
}

/* Count the knots that the trunks need if lines longer than a limit are cut. */
static int64
count_knots(const Rows *rows, int limit, int *longest)
{
	int64		sum = 0;

	memset(longest, 0, sizeof(int) * 4 * rows->layout->nboxes);
	for (int i = 0; i < rows->layout->nlines; i++)
		if (line_span(rows, i) <= limit)
			longest[trunk_of(rows, i)] = Max(longest[trunk_of(rows, i)], line_span(rows, i));
	for (int i = 0; i < 4 * rows->layout->nboxes; i++)
		sum += 2 * longest[i];
	return sum;
}

/* Cut the longest lines until the others need few enough knots. */
static void
cut_lines(Rows *rows)
{
	int			limit = rows->nlayers;
	int64		allowed = MAX_KNOTS_BASE +
		(int64) MAX_KNOTS_PER_BOX * rows->layout->nboxes;
	int		   *longest = palloc(sizeof(int) * 4 * rows->layout->nboxes);

	while (limit > 1 && count_knots(rows, limit, longest) > allowed)
		limit /= 2;
	for (int i = 0; i < rows->layout->nlines; i++)
	{
		SfLayoutLine *line = &rows->layout->lines[i];

		line->cut = line_span(rows, i) > limit;
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
has_own_row(const Rows *rows, int line)
{
	const SfLayoutLine *l = &rows->layout->lines[line];

	return l->from != l->to && (l->label_w > 0 || rows->work->upward[line]);
}

/* Number the rows: one per layer, and one between two layers that have labels there. */
static void
number_rows(Rows *rows)
{
	bool	   *labels_below = palloc0(sizeof(bool) * (rows->nlayers + 1));

	for (int i = 0; i < rows->layout->nlines; i++)
	{
		const SfLayoutLine *line = &rows->layout->lines[i];

		if (has_own_row(rows, i))
			labels_below[rows->layer[line->from] - (rows->work->upward[i] ? 1 : 0)] = true;
	}
	rows->row = palloc(sizeof(int) * rows->nlayers);
	for (int i = 0; i < rows->nlayers; i++)
	{
		rows->row[i] = rows->work->nrows++;
		if (labels_below[i])
			rows->work->nrows++;
	}
}

/* The row after the first box of a line, and after its label. */
static int
row_after_label(const Rows *rows, int line)
{
	const SfLayoutLine *l = &rows->layout->lines[line];
	int			steps = has_own_row(rows, line) ? 2 : 1;

	return rows->row[rows->layer[l->from]] + (rows->work->upward[line] ? -steps : steps);
}

/* Note which rows a trunk needs knots in. */
static void
measure_trunks(Rows *rows)
{
	int			ntrunks = 4 * rows->layout->nboxes;

	rows->trunk_from = palloc(sizeof(int) * ntrunks);
	rows->trunk_to = palloc(sizeof(int) * ntrunks);
	rows->trunk_base = palloc(sizeof(int) * ntrunks);
	for (int i = 0; i < ntrunks; i++)
	{
		int			row = rows->row[rows->layer[i / 4]];

		rows->trunk_from[i] = i % 2 == 1 ? row + 1 : row;
		rows->trunk_to[i] = i % 2 == 1 ? row : row - 1;
	}
	for (int i = 0; i < rows->layout->nlines; i++)
	{
		int			trunk = trunk_of(rows, i);
		int			row = row_after_label(rows, i);

		if (rows->layout->lines[i].cut ||
			rows->layout->lines[i].from == rows->layout->lines[i].to)
			continue;
		if (rows->work->upward[i])
			rows->trunk_to[trunk] = Max(rows->trunk_to[trunk], row);
		else
			rows->trunk_from[trunk] = Min(rows->trunk_from[trunk], row);
	}
}

/* Add a vertex, for a box, for the label of a line, or (of is 0) for a knot. */
static int
add_vertex(Rows *rows, SfVertexType type, int of, int row, int w, int h)
{
	SfLayoutWork *work = rows->work;
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
add_trunk(Rows *rows, int trunk)
{
	bool		upward = trunk % 2 == 1;
	int			from = rows->trunk_from[trunk];
	int			n = rows->trunk_to[trunk] - from + 1;

	rows->trunk_base[trunk] = rows->work->nvertices;
	for (int i = 0; i < n; i++)
	{
		SfLayoutVertex *v = &rows->work->vertices[add_vertex(rows, SF_VERTEX_KNOT, 0, from + i, 0, 0)];

		v->kind = (SfLayoutKind) (trunk / 2 % 2);
		v->upward = upward;
		v->to = trunk / 4;
	}
	for (int i = 0; i < n; i++)
	{
		int			knot = rows->trunk_base[trunk] + i;

		if (upward)
			add_arc(rows->work, knot, i == 0 ? trunk / 4 : knot - 1);
		else
			add_arc(rows->work, knot, i == n - 1 ? trunk / 4 : knot + 1);
	}
}

/* Lead a line from its box by its label to its trunk, or straight to the other box. */
static void
add_line(Rows *rows, int line)
{
	const SfLayoutLine *l = &rows->layout->lines[line];
	bool		upward = rows->work->upward[line];
	int			row = row_after_label(rows, line);
	int			at = l->from;
	int			next;

	rows->work->first[line] = SF_LAYOUT_NO_VERTEX;
	if (l->from == l->to)
		return;
	if (has_own_row(rows, line))
	{
		SfLayoutVertex *v;

		at = add_vertex(rows, SF_VERTEX_LABEL, line, row + (upward ? 1 : -1), l->label_w, l->label_h);
		v = &rows->work->vertices[at];
		v->kind = l->kind;
		v->upward = upward;
		v->to = l->to;
		add_arc(rows->work, l->from, at);
		rows->work->first[line] = at;
	}
	if (l->cut)
		return;
	next = row == rows->row[rows->layer[l->to]] ? l->to :
		rows->trunk_base[trunk_of(rows, line)] + row - rows->trunk_from[trunk_of(rows, line)];
	add_arc(rows->work, at, next);
	if (rows->work->first[line] == SF_LAYOUT_NO_VERTEX)
		rows->work->first[line] = next;
}

/* Make all vertices and arcs. */
static void
add_vertices(Rows *rows)
{
	SfLayoutWork *work = rows->work;
	int			nknots = 0;

	for (int i = 0; i < 4 * rows->layout->nboxes; i++)
		nknots += Max(0, rows->trunk_to[i] - rows->trunk_from[i] + 1);
	work->max_vertices = rows->layout->nboxes + rows->layout->nlines + nknots;
	work->vertices = palloc(sizeof(SfLayoutVertex) * work->max_vertices);
	work->max_arcs = 2 * rows->layout->nlines + nknots;
	work->arcs = palloc(sizeof(SfLayoutArc) * Max(work->max_arcs, 1));
	work->first = palloc(sizeof(int) * Max(rows->layout->nlines, 1));
	for (int i = 0; i < rows->layout->nboxes; i++)
	{
		const SfLayoutBox *box = &rows->layout->boxes[i];

		(void) add_vertex(rows, SF_VERTEX_BOX, i, rows->row[rows->layer[i]], box->w, box->h);
	}
	for (int i = 0; i < 4 * rows->layout->nboxes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_trunk(rows, i);
	}
	for (int i = 0; i < rows->layout->nlines; i++)
		add_line(rows, i);
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
	Rows		rows = {.work = work, .layout = work->layout};

	work->upward = palloc0(sizeof(bool) * Max(work->layout->nlines, 1));
	group_lines(&rows);
	sort_boxes(&rows);
	assign_layers(&rows);
	pull_down(&rows);
	count_layers(&rows);
	cut_lines(&rows);
	number_rows(&rows);
	measure_trunks(&rows);
	add_vertices(&rows);
	make_room_for_loops(work);
	list_neighbours(work);
}
