/*
 * layout_work.h
 *		What the steps of a layout hand on to each other.
 *
 * After Sugiyama, Tagawa and Toda (1981): boxes get rows (layout_rows.c), each
 * row an order with few crossings (layout_order.c), each vertex a place in its
 * row (layout_columns.c), and then lines are drawn (layout_routes.c).
 *
 * A vertex is a box, a label, or a knot: the place where a line passes a row.
 * All lines of one kind to one box share their knots, which form a trunk.  An
 * arc joins two vertices of neighbouring rows.
 */
#ifndef SF_GRAPH_LAYOUT_WORK_H
#define SF_GRAPH_LAYOUT_WORK_H

#include "graph/layout.h"

typedef struct SfLayoutVertex
{
	int			box;			/* -1: a label or a knot */
	int			line;			/* of a label; else -1 */
	int			kind;			/* of a knot's trunk, of a label's line */
	bool		upward;			/* a knot or label of a line that leads up */
	int			to;				/* box that a knot's trunk leads to */
	int			next;			/* vertex that follows on the way there, or -1 */
	int			nentering;		/* knots: arcs that lead here */
	int			row;
	int			pos;			/* in the row */
	int			w;
	int			h;
	int			x;				/* of the middle */
	int			y;				/* of the upper edge */
	int			first_up;		/* in neighbours: arcs to the row above */
	int			nup;
	int			first_down;		/* ... to the row below */
	int			ndown;
} SfLayoutVertex;

typedef struct SfLayoutArc
{
	int			upper;			/* vertices */
	int			lower;
} SfLayoutArc;

typedef struct SfLayoutWork
{
	SfLayout   *layout;
	bool	   *upward;			/* by line: leads up */
	int		   *first;			/* by line: vertex after its box; -1: a loop */
	int			nvertices;		/* the boxes come first */
	int			max_vertices;
	SfLayoutVertex *vertices;
	int			narcs;
	int			max_arcs;
	SfLayoutArc *arcs;
	int		   *neighbours;		/* of all vertices: above, then below */
	int			nrows;
	int		   *row_start;		/* in order, by row; one more at the end */
	int		   *order;			/* vertices by row and position */
} SfLayoutWork;

#define SF_LAYOUT_LOOP	28		/* width of a loop beside a box */

#define SF_LAYOUT_IS_KNOT(v) ((v)->box < 0 && (v)->line < 0)

extern void sf_layout_rows(SfLayoutWork *work);
extern void sf_layout_order(SfLayoutWork *work);
extern void sf_layout_columns(SfLayoutWork *work);
extern void sf_layout_routes(SfLayoutWork *work);

/* The n-th neighbour of a vertex in the row above, or in the row below. */
#define SF_LAYOUT_UP(work, v, n) ((work)->neighbours[(v)->first_up + (n)])
#define SF_LAYOUT_DOWN(work, v, n) ((work)->neighbours[(v)->first_down + (n)])

#endif							/* SF_GRAPH_LAYOUT_WORK_H */
