/*
 * layout_routes.c
 *		Last step of a layout: heights, and the ways of the lines.
 *
 * A line passes a row straight, at the coordinate of its knot or label, and changes
 * its coordinate only between two rows, where no box stands.  All curves between
 * two rows begin and end at the same heights, so two of them cross only if
 * their ends stand in different orders.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "graph/layout.h"

#define GAP_ROWS		26		/* between a row and the next */
#define GAP_ARROW		12		/* more, where arrows end at boxes */
#define GAP_SLANT		64		/* more at most, where lines lead far to the side */
#define SLANT			9		/* of so many pixels to the side, one is added */
#define PORT_GAP		18		/* between lines that end at one side of a box, if there is room */

/* Where lines begin and end at one side of a box; lines of one kind share it. */
typedef struct Port
{
	int			first;			/* neighbours, by number */
	int			last;
	int			wanted;			/* coordinate that makes a line straight */
	int			x;
} Port;

typedef struct Routes
{
	SfLayoutWork *work;
	SfLayout   *layout;
	int		   *row_y;			/* upper edge of each row */
	int		   *row_h;
	int		   *port_x;			/* by entry of neighbours: where that arc ends at this box */
	Port	   *ports;
} Routes;

/* Find the height of each row. */
static void
measure_rows(Routes *r)
{
	r->row_y = palloc0(sizeof(int) * r->work->nrows);
	r->row_h = palloc0(sizeof(int) * r->work->nrows);
	for (int i = 0; i < r->work->nvertices; i++)
	{
		const SfLayoutVertex *v = &r->work->vertices[i];

		r->row_h[v->row] = Max(r->row_h[v->row], v->h);
	}
}

/* The height between a row and the next one. */
static int
gap_below(const Routes *r, int row)
{
	SfLayoutWork *work = r->work;
	int			farthest = 0;
	bool		arrows = false;

	for (int i = work->row_start[row]; i < work->row_start[row + 1]; i++)
	{
		const SfLayoutVertex *v = &work->vertices[work->order[i]];

		for (int j = 0; j < v->ndown; j++)
		{
			const SfLayoutVertex *w = &work->vertices[SF_LAYOUT_DOWN(work, v, j)];

			farthest = Max(farthest, abs(v->x - w->x));
			arrows = arrows || w->type == SF_VERTEX_BOX || (v->type == SF_VERTEX_BOX && w->upward);
		}
	}
	return GAP_ROWS + (arrows ? GAP_ARROW : 0) + Min(GAP_SLANT, farthest / SLANT);
}

/* Position the rows one below the other, and the vertices in their middle. */
static void
position_rows(Routes *r)
{
	int			y = 0;

	for (int row = 0; row < r->work->nrows; row++)
	{
		r->row_y[row] = y;
		y += r->row_h[row];
		if (row + 1 < r->work->nrows)
			y += gap_below(r, row);
	}
	r->layout->h = y;
	for (int i = 0; i < r->work->nvertices; i++)
	{
		SfLayoutVertex *v = &r->work->vertices[i];

		v->y = r->row_y[v->row] + (r->row_h[v->row] - v->h) / 2;
		r->layout->w = Max(r->layout->w, v->x + (v->w + 1) / 2);
	}
}

/* Give the boxes and labels their coordinates. */
static void
position_boxes(Routes *r)
{
	for (int i = 0; i < r->work->nvertices; i++)
	{
		const SfLayoutVertex *v = &r->work->vertices[i];

		if (v->type == SF_VERTEX_BOX)
		{
			SfLayoutBox *box = &r->layout->boxes[v->of];

			/* the vertex may be larger, for the label of a loop */
			box->x = v->x - box->w / 2;
			box->y = v->y + (v->h - box->h) / 2;
		}
		else if (v->type == SF_VERTEX_LABEL)
		{
			r->layout->lines[v->of].label_x = v->x - v->w / 2;
			r->layout->lines[v->of].label_y = v->y;
		}
	}
}

/*
 * May the arcs from two neighbouring vertices end at one port of a box?  So do
 * lines of one kind that lead to the box.
 */
static bool
share_port(const SfLayoutWork *work, int box, int a, int b, bool above)
{
	const SfLayoutVertex *v = &work->vertices[a];
	const SfLayoutVertex *w = &work->vertices[b];

	if (v->kind != w->kind)
		return false;
	/* a line from a box right above is of the first kind, as boxes are */
	if (above)
		return !v->upward && !w->upward;
	return v->upward && w->upward && v->to == box && w->to == box;
}

/* Where a line that ends at a vertex passes it. */
static int
wanted_coordinate(const Routes *r, int vertex, int neighbour)
{
	const SfLayoutVertex *v = &r->work->vertices[neighbour];

	/* the ports below the box above are known already */
	for (int i = 0; v->type == SF_VERTEX_BOX && i < v->ndown; i++)
		if (SF_LAYOUT_DOWN(r->work, v, i) == vertex)
			return r->port_x[v->first_down + i];
	return v->x;
}

/* Choose coordinates for ports in order, as near as possible to those wanted. */
static void
spread_ports(Port *ports, int nports, int middle, int reach)
{
	int			gap = nports > 1 ? Min(PORT_GAP, 2 * reach / (nports - 1)) : 0;

	for (int i = 0; i < nports; i++)
	{
		int			off = ports[i].wanted - middle;

		/* what cannot be straight begins halfway to the corner */
		if (abs(off) > reach)
			off = off > 0 ? reach / 2 : -reach / 2;
		ports[i].x = middle + off;
		if (i > 0)
			ports[i].x = Max(ports[i].x, ports[i - 1].x + gap);
	}
	for (int i = nports - 1; i >= 0; i--)
		ports[i].x = Min(ports[i].x, middle + reach - (nports - 1 - i) * gap);
}

/* Choose where lines end at one side of a box. */
static void
position_ports(Routes *r, int vertex, bool above)
{
	SfLayoutWork *work = r->work;
	const SfLayoutVertex *v = &work->vertices[vertex];
	const SfLayoutBox *box = &r->layout->boxes[v->of];
	int			first = above ? v->first_up : v->first_down;
	int			n = above ? v->nup : v->ndown;
	int			nports = 0;

	for (int i = 0; i < n; i++)
	{
		Port	   *port = &r->ports[nports - 1];
		int			neighbour = work->neighbours[first + i];

		if (i == 0 || !share_port(work, v->of, work->neighbours[first + i - 1],
								  neighbour, above))
		{
			port = &r->ports[nports++];
			port->first = i;
			port->wanted = wanted_coordinate(r, vertex, neighbour);
		}
		else
			port->wanted = v->x;
		port->last = i;
	}
	spread_ports(r->ports, nports, v->x, Max(0, box->w / 2 - box->corner - 4));
	for (int i = 0; i < nports; i++)
		for (int j = r->ports[i].first; j <= r->ports[i].last; j++)
			r->port_x[first + j] = r->ports[i].x;
}

/* Choose where lines begin and end at all boxes. */
static void
position_all_ports(Routes *r)
{
	int			most = 1;

	for (int i = 0; i < r->layout->nboxes; i++)
		most = Max(most, Max(r->work->vertices[i].nup, r->work->vertices[i].ndown));
	r->ports = palloc(sizeof(Port) * most);
	r->port_x = palloc(sizeof(int) * Max(2 * r->work->narcs, 1));
	for (int i = 0; i < r->layout->nboxes; i++)
		position_ports(r, i, false);
	for (int i = 0; i < r->layout->nboxes; i++)
		position_ports(r, i, true);
}

/* Where the arc to a neighbour ends at a box. */
static int
port_of(const Routes *r, int vertex, int neighbour, bool above)
{
	const SfLayoutVertex *v = &r->work->vertices[vertex];
	int			first = above ? v->first_up : v->first_down;
	int			n = above ? v->nup : v->ndown;

	for (int i = 0; i < n; i++)
		if (r->work->neighbours[first + i] == neighbour)
			return r->port_x[first + i];
	return v->x;
}

/* Add a point to a path, unless it only prolongs what is straight. */
static void
add_point(SfLayoutPath *path, int x, int y)
{
	SfLayoutPoint *points = path->points;
	int			n = path->npoints;

	if (n > 0 && points[n - 1].x == x && points[n - 1].y == y)
		return;
	if (n > 1 && points[n - 1].x == x && points[n - 2].x == x)
		points[n - 1].y = y;
	else
	{
		points[n].x = x;
		points[n].y = y;
		path->npoints++;
	}
}

/* Add the points at which a path passes a vertex. */
static void
pass_vertex(Routes *r, SfLayoutPath *path, const SfLayoutVertex *v)
{
	int			top = r->row_y[v->row];
	int			bottom = top + r->row_h[v->row];

	add_point(path, v->x, v->upward ? bottom : top);
	add_point(path, v->x, v->upward ? top : bottom);
}

/* Count the vertices that a path from a vertex on passes. */
static int
count_steps(const SfLayoutWork *work, int vertex)
{
	int			n = 1;

	while (work->vertices[vertex].next != SF_LAYOUT_NO_VERTEX)
	{
		vertex = work->vertices[vertex].next;
		n++;
		if (work->vertices[vertex].nentering > 1)
			break;
	}
	return n;
}

/*
 * Follow a path from a vertex, to which it already leads, up to its box or to
 * the knot where it meets others.  previous: the vertex before.
 */
static void
follow(Routes *r, SfLayoutPath *path, int previous, int vertex, bool is_trunk)
{
	SfLayoutWork *work = r->work;
	const SfLayoutVertex *v = &work->vertices[vertex];

	while (v->type != SF_VERTEX_BOX && (is_trunk || v->type != SF_VERTEX_KNOT || v->nentering < 2))
	{
		is_trunk = false;
		pass_vertex(r, path, v);
		if (v->next == SF_LAYOUT_NO_VERTEX)
			return;				/* the label of a line that was cut */
		previous = vertex;
		vertex = v->next;
		v = &work->vertices[vertex];
	}
	if (v->type != SF_VERTEX_BOX)
		add_point(path, v->x, r->row_y[v->row] + (v->upward ? r->row_h[v->row] : 0));
	else
	{
		const SfLayoutBox *box = &r->layout->boxes[v->of];
		bool		above = work->vertices[previous].row < v->row;
		int			x = port_of(r, vertex, previous, above);

		add_point(path, x, r->row_y[v->row] + (above ? 0 : r->row_h[v->row]));
		add_point(path, x, above ? box->y : box->y + box->h);
		path->arrow = true;
	}
}

/* Begin a path that passes some vertices. */
static SfLayoutPath *
add_path(Routes *r, int line, int to, SfLayoutKind kind, int nsteps)
{
	SfLayoutPath *path = &r->layout->paths[r->layout->npaths++];

	memset(path, 0, sizeof(*path));
	path->line = line;
	path->to = to;
	path->kind = kind;
	path->points = palloc(sizeof(SfLayoutPoint) * (2 * nsteps + 4));
	return path;
}

/* Draw a loop beside its box: to the right, the second one to the left. */
static void
draw_loop(Routes *r, int line)
{
	SfLayoutLine *l = &r->layout->lines[line];
	const SfLayoutBox *box = &r->layout->boxes[l->from];
	SfLayoutPath *path = add_path(r, line, l->to, l->kind, 1);
	bool		right = l->kind == SF_LAYOUT_MAIN;
	int			x = right ? box->x + box->w : box->x;
	int			reach = Min(box->h / 2 - box->corner, 12);

	path->loop = path->arrow = true;
	path->bulge = right ? SF_LAYOUT_LOOP : -SF_LAYOUT_LOOP;
	add_point(path, x, box->y + box->h / 2 + Max(reach, 3));
	add_point(path, x, box->y + box->h / 2 - Max(reach, 3));
	l->label_x = right ? x + SF_LAYOUT_LOOP : x - SF_LAYOUT_LOOP - l->label_w;
	l->label_y = box->y + (box->h - l->label_h) / 2;
}

/* Draw a line from its box on. */
static void
draw_line(Routes *r, int line)
{
	const SfLayoutLine *l = &r->layout->lines[line];
	int			first = r->work->first[line];
	const SfLayoutVertex *from = &r->work->vertices[l->from];
	const SfLayoutBox *box = &r->layout->boxes[l->from];
	bool		up = r->work->upward[line];
	SfLayoutPath *path;
	int			x;

	if (first == SF_LAYOUT_NO_VERTEX)
	{
		draw_loop(r, line);
		return;
	}
	path = add_path(r, line, l->to, l->kind, 1 + count_steps(r->work, first));
	x = port_of(r, l->from, first, up);
	add_point(path, x, up ? box->y : box->y + box->h);
	add_point(path, x, r->row_y[from->row] + (up ? 0 : r->row_h[from->row]));
	follow(r, path, l->from, first, false);
}

/* Draw lines, and trunks from each knot where lines meet. */
static void
draw_paths(Routes *r)
{
	int			most = r->layout->nlines;

	for (int i = r->layout->nboxes; i < r->work->nvertices; i++)
		most += r->work->vertices[i].nentering > 1;
	r->layout->paths = palloc(sizeof(SfLayoutPath) * Max(most, 1));
	for (int i = 0; i < r->layout->nlines; i++)
	{
		CHECK_FOR_INTERRUPTS();
		draw_line(r, i);
	}
	for (int i = r->layout->nboxes; i < r->work->nvertices; i++)
	{
		const SfLayoutVertex *v = &r->work->vertices[i];

		if (v->type == SF_VERTEX_KNOT && v->nentering > 1)
			follow(r, add_path(r, SF_LAYOUT_TRUNK, v->to, v->kind, 1 + count_steps(r->work, i)),
				   SF_LAYOUT_NO_VERTEX, i, true);
	}
}

/* Position rows, boxes and labels, and draw the lines. */
static void
route_all(SfLayoutWork *work)
{
	Routes		r = {.work = work, .layout = work->layout};

	measure_rows(&r);
	position_rows(&r);
	position_boxes(&r);
	position_all_ports(&r);
	draw_paths(&r);
}

/* --- the steps of a layout, in a memory context of their own --- */

/*
 * Find coordinates for boxes, lines and labels.  The results are allocated in the
 * current context; what the steps need is gone at the end.
 */
void
sf_layout_make(SfLayout *layout)
{
	SfLayoutWork work = {.layout = layout};
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "sfflow layout",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext result = MemoryContextSwitchTo(scratch);

	sf_layout_rows(&work);
	sf_layout_order(&work);
	sf_layout_columns(&work);
	MemoryContextSwitchTo(result);
	route_all(&work);
	MemoryContextDelete(scratch);
}
