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
measure_rows(Routes *routes)
{
	routes->row_y = palloc0(sizeof(int) * routes->work->nrows);
	routes->row_h = palloc0(sizeof(int) * routes->work->nrows);
	for (int i = 0; i < routes->work->nvertices; i++)
	{
		const SfLayoutVertex *v = &routes->work->vertices[i];

		routes->row_h[v->row] = Max(routes->row_h[v->row], v->h);
	}
}

/* The height between a row and the next one. */
static int
gap_below(const Routes *routes, int row)
{
	SfLayoutWork *work = routes->work;
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
position_rows(Routes *routes)
{
	int			y = 0;

	for (int row = 0; row < routes->work->nrows; row++)
	{
		routes->row_y[row] = y;
		y += routes->row_h[row];
		if (row + 1 < routes->work->nrows)
			y += gap_below(routes, row);
	}
	routes->layout->h = y;
	for (int i = 0; i < routes->work->nvertices; i++)
	{
		SfLayoutVertex *v = &routes->work->vertices[i];

		v->y = routes->row_y[v->row] + (routes->row_h[v->row] - v->h) / 2;
		routes->layout->w = Max(routes->layout->w, v->x + (v->w + 1) / 2);
	}
}

/* Give the boxes and labels their coordinates. */
static void
position_boxes(Routes *routes)
{
	for (int i = 0; i < routes->work->nvertices; i++)
	{
		const SfLayoutVertex *v = &routes->work->vertices[i];

		if (v->type == SF_VERTEX_BOX)
		{
			SfLayoutBox *box = &routes->layout->boxes[v->of];

			/* the vertex may be larger, for the label of a loop */
			box->x = v->x - box->w / 2;
			box->y = v->y + (v->h - box->h) / 2;
		}
		else if (v->type == SF_VERTEX_LABEL)
		{
			routes->layout->lines[v->of].label_x = v->x - v->w / 2;
			routes->layout->lines[v->of].label_y = v->y;
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
wanted_coordinate(const Routes *routes, int vertex, int neighbour)
{
	const SfLayoutVertex *v = &routes->work->vertices[neighbour];

	/* the ports below the box above are known already */
	for (int i = 0; v->type == SF_VERTEX_BOX && i < v->ndown; i++)
		if (SF_LAYOUT_DOWN(routes->work, v, i) == vertex)
			return routes->port_x[v->first_down + i];
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
position_ports(Routes *routes, int vertex, bool above)
{
	SfLayoutWork *work = routes->work;
	const SfLayoutVertex *v = &work->vertices[vertex];
	const SfLayoutBox *box = &routes->layout->boxes[v->of];
	int			first = above ? v->first_up : v->first_down;
	int			n = above ? v->nup : v->ndown;
	int			nports = 0;

	for (int i = 0; i < n; i++)
	{
		Port	   *port = &routes->ports[nports - 1];
		int			neighbour = work->neighbours[first + i];

		if (i == 0 || !share_port(work, v->of, work->neighbours[first + i - 1],
								  neighbour, above))
		{
			port = &routes->ports[nports++];
			port->first = i;
			port->wanted = wanted_coordinate(routes, vertex, neighbour);
		}
		else
			port->wanted = v->x;
		port->last = i;
	}
	spread_ports(routes->ports, nports, v->x, Max(0, box->w / 2 - box->corner - 4));
	for (int i = 0; i < nports; i++)
		for (int j = routes->ports[i].first; j <= routes->ports[i].last; j++)
			routes->port_x[first + j] = routes->ports[i].x;
}

/* Choose where lines begin and end at all boxes. */
static void
position_all_ports(Routes *routes)
{
	int			most = 1;

	for (int i = 0; i < routes->layout->nboxes; i++)
		most = Max(most, Max(routes->work->vertices[i].nup, routes->work->vertices[i].ndown));
	routes->ports = palloc(sizeof(Port) * most);
	routes->port_x = palloc(sizeof(int) * Max(2 * routes->work->narcs, 1));
	for (int i = 0; i < routes->layout->nboxes; i++)
		position_ports(routes, i, false);
	for (int i = 0; i < routes->layout->nboxes; i++)
		position_ports(routes, i, true);
}

/* Where the arc to a neighbour ends at a box. */
static int
port_of(const Routes *routes, int vertex, int neighbour, bool above)
{
	const SfLayoutVertex *v = &routes->work->vertices[vertex];
	int			first = above ? v->first_up : v->first_down;
	int			n = above ? v->nup : v->ndown;

	for (int i = 0; i < n; i++)
		if (routes->work->neighbours[first + i] == neighbour)
			return routes->port_x[first + i];
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
pass_vertex(Routes *routes, SfLayoutPath *path, const SfLayoutVertex *v)
{
	int			top = routes->row_y[v->row];
	int			bottom = top + routes->row_h[v->row];

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
follow(Routes *routes, SfLayoutPath *path, int previous, int vertex, bool is_trunk)
{
	SfLayoutWork *work = routes->work;
	const SfLayoutVertex *v = &work->vertices[vertex];

	while (v->type != SF_VERTEX_BOX && (is_trunk || v->type != SF_VERTEX_KNOT || v->nentering < 2))
	{
		is_trunk = false;
		pass_vertex(routes, path, v);
		if (v->next == SF_LAYOUT_NO_VERTEX)
			return;				/* the label of a line that was cut */
		previous = vertex;
		vertex = v->next;
		v = &work->vertices[vertex];
	}
	if (v->type != SF_VERTEX_BOX)
		add_point(path, v->x, routes->row_y[v->row] + (v->upward ? routes->row_h[v->row] : 0));
	else
	{
		const SfLayoutBox *box = &routes->layout->boxes[v->of];
		bool		above = work->vertices[previous].row < v->row;
		int			x = port_of(routes, vertex, previous, above);

		add_point(path, x, routes->row_y[v->row] + (above ? 0 : routes->row_h[v->row]));
		add_point(path, x, above ? box->y : box->y + box->h);
		path->has_arrow = true;
	}
}

/* Begin a path that passes some vertices. */
static SfLayoutPath *
add_path(Routes *routes, int line, int to, SfLayoutKind kind, int nsteps)
{
	SfLayoutPath *path = &routes->layout->paths[routes->layout->npaths++];

	memset(path, 0, sizeof(*path));
	path->line = line;
	path->to = to;
	path->kind = kind;
	path->points = palloc(sizeof(SfLayoutPoint) * (2 * nsteps + 4));
	return path;
}

/* Draw a loop beside its box: to the right, the second one to the left. */
static void
draw_loop(Routes *routes, int line)
{
	SfLayoutLine *l = &routes->layout->lines[line];
	const SfLayoutBox *box = &routes->layout->boxes[l->from];
	SfLayoutPath *path = add_path(routes, line, l->to, l->kind, 1);
	bool		right = l->kind == SF_LAYOUT_MAIN;
	int			x = right ? box->x + box->w : box->x;
	int			reach = Min(box->h / 2 - box->corner, 12);

	path->is_loop = path->has_arrow = true;
	path->bulge = right ? SF_LAYOUT_LOOP : -SF_LAYOUT_LOOP;
	add_point(path, x, box->y + box->h / 2 + Max(reach, 3));
	add_point(path, x, box->y + box->h / 2 - Max(reach, 3));
	l->label_x = right ? x + SF_LAYOUT_LOOP : x - SF_LAYOUT_LOOP - l->label_w;
	l->label_y = box->y + (box->h - l->label_h) / 2;
}

/* Draw a line from its box on. */
static void
draw_line(Routes *routes, int line)
{
	const SfLayoutLine *l = &routes->layout->lines[line];
	int			first = routes->work->first[line];
	const SfLayoutVertex *from = &routes->work->vertices[l->from];
	const SfLayoutBox *box = &routes->layout->boxes[l->from];
	bool		up = routes->work->upward[line];
	SfLayoutPath *path;
	int			x;

	if (first == SF_LAYOUT_NO_VERTEX)
	{
		draw_loop(routes, line);
		return;
	}
	path = add_path(routes, line, l->to, l->kind, 1 + count_steps(routes->work, first));
	x = port_of(routes, l->from, first, up);
	add_point(path, x, up ? box->y : box->y + box->h);
	add_point(path, x, routes->row_y[from->row] + (up ? 0 : routes->row_h[from->row]));
	follow(routes, path, l->from, first, false);
}

/* Draw lines, and trunks from each knot where lines meet. */
static void
draw_paths(Routes *routes)
{
	int			most = routes->layout->nlines;

	for (int i = routes->layout->nboxes; i < routes->work->nvertices; i++)
		most += routes->work->vertices[i].nentering > 1;
	routes->layout->paths = palloc(sizeof(SfLayoutPath) * Max(most, 1));
	for (int i = 0; i < routes->layout->nlines; i++)
	{
		CHECK_FOR_INTERRUPTS();
		draw_line(routes, i);
	}
	for (int i = routes->layout->nboxes; i < routes->work->nvertices; i++)
	{
		const SfLayoutVertex *v = &routes->work->vertices[i];

		if (v->type == SF_VERTEX_KNOT && v->nentering > 1)
			follow(routes, add_path(routes, SF_LAYOUT_TRUNK, v->to, v->kind, 1 + count_steps(routes->work, i)),
				   SF_LAYOUT_NO_VERTEX, i, true);
	}
}

/* Position rows, boxes and labels, and draw the lines. */
static void
route_all(SfLayoutWork *work)
{
	Routes		routes = {.work = work, .layout = work->layout};

	measure_rows(&routes);
	position_rows(&routes);
	position_boxes(&routes);
	position_all_ports(&routes);
	draw_paths(&routes);
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
