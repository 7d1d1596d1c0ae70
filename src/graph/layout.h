/*
 * layout.h
 *		Coordinates for the boxes, lines and labels of one picture without nesting.
 *
 * The caller says how large the boxes and labels are, and which line leads
 * from which box to which.  Boxes stand in rows; a line leads down, or, where
 * it closes a loop, up.  Lengths are pixels, x grows to the right, y downward.
 */
#ifndef SF_GRAPH_LAYOUT_H
#define SF_GRAPH_LAYOUT_H

/* Where the index of a box, or of a vertex, may stand: there is none */
#define SF_LAYOUT_NO_BOX	(-1)
#define SF_LAYOUT_NO_VERTEX	(-1)

/* Where the line of a path may stand: it is a trunk, of several */
#define SF_LAYOUT_TRUNK		(-1)

typedef struct SfLayoutBox
{
	int			w;
	int			h;
	int			corner;			/* radius of the corners: no line touches them */
	int			x;				/* result: top left corner */
	int			y;
} SfLayoutBox;

/* What a line is; only those of the main flow decide where boxes stand above one another. */
typedef enum SfLayoutKind
{
	SF_LAYOUT_MAIN,
	SF_LAYOUT_CATCH
} SfLayoutKind;

/* Lines of one kind to one box join on the way; lines of two kinds do not. */
typedef struct SfLayoutLine
{
	int			from;			/* index of a box */
	int			to;
	SfLayoutKind kind;
	int			label_w;		/* 0: no label */
	int			label_h;
	int			stub_w;			/* of the label instead, if the line is cut */
	int			stub_h;
	bool		cut;			/* result: only its beginning is drawn */
	int			label_x;		/* result: top left corner of the label */
	int			label_y;
} SfLayoutLine;

typedef struct SfLayoutPoint
{
	int			x;
	int			y;
} SfLayoutPoint;

/*
 * A part of one line, or of the trunk that several lines share.  Two points
 * one above the other are joined straight, others by a curve that leaves and
 * arrives vertically.  A loop is a curve beside its box, from the first of its
 * two points to the second.
 */
typedef struct SfLayoutPath
{
	int			line;			/* or SF_LAYOUT_TRUNK */
	int			to;				/* box that it leads to */
	SfLayoutKind kind;
	bool		has_arrow;		/* ends at that box, not at a trunk */
	bool		is_loop;
	int			bulge;			/* of a loop: how far to the right */
	int			npoints;
	SfLayoutPoint *points;
} SfLayoutPath;

typedef struct SfLayout
{
	int			nboxes;
	SfLayoutBox *boxes;
	int			nlines;
	SfLayoutLine *lines;
	int			first;			/* box that stands in the first row, or SF_LAYOUT_NO_BOX */
	int			last;			/* ... in the last row, or SF_LAYOUT_NO_BOX */
	/* results */
	int			w;
	int			h;
	int			npaths;
	SfLayoutPath *paths;
} SfLayout;

extern void sf_layout_make(SfLayout *layout);

/*
 * What the steps of a layout hand on to each other.
 *
 * After Sugiyama, Tagawa and Toda (1981): boxes get rows (layout_rows.c), each
 * row an order with few crossings (layout_order.c), each vertex a position in its
 * row (layout_columns.c), and then lines are drawn (layout_routes.c).
 *
 * A vertex is a box, a label, or a knot: the point where a line passes a row.
 * All lines of one kind to one box share their knots, which form a trunk.  An
 * arc joins two vertices of neighbouring rows.
 */

typedef enum SfVertexType
{
	SF_VERTEX_BOX,
	SF_VERTEX_LABEL,
	SF_VERTEX_KNOT
} SfVertexType;

typedef struct SfLayoutVertex
{
	SfVertexType type;
	int			of;				/* BOX: its index; LABEL: that of its line */
	SfLayoutKind kind;			/* of a knot's trunk, of a label's line */
	bool		upward;			/* a knot or label of a line that leads up */
	int			to;				/* box that a knot's trunk leads to */
	int			next;			/* vertex that follows on the way there, or SF_LAYOUT_NO_VERTEX */
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
	int		   *first;			/* by line: vertex after its box; SF_LAYOUT_NO_VERTEX: it is a loop */
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

extern void sf_layout_rows(SfLayoutWork *work);
extern void sf_layout_order(SfLayoutWork *work);
extern void sf_layout_columns(SfLayoutWork *work);

/* The n-th neighbour of a vertex in the row above, or in the row below. */
#define SF_LAYOUT_UP(work, v, n) ((work)->neighbours[(v)->first_up + (n)])
#define SF_LAYOUT_DOWN(work, v, n) ((work)->neighbours[(v)->first_down + (n)])

#endif							/* SF_GRAPH_LAYOUT_H */
