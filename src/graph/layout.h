/*
 * layout.h
 *		Places for the boxes, lines and labels of one picture without nesting.
 *
 * The caller says how large the boxes and labels are, and which line leads
 * from which box to which.  Boxes stand in rows; a line leads down, or, where
 * it closes a loop, up.  Lengths are pixels, x grows to the right, y downward.
 */
#ifndef SF_GRAPH_LAYOUT_H
#define SF_GRAPH_LAYOUT_H

typedef struct SfLayoutBox
{
	int			w;
	int			h;
	int			corner;			/* radius of the corners: no line touches them */
	int			x;				/* result: top left corner */
	int			y;
} SfLayoutBox;

/* Lines of one kind to one box join on the way; lines of two kinds do not. */
typedef struct SfLayoutLine
{
	int			from;			/* index of a box */
	int			to;
	int			kind;			/* 0 or 1 */
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
	int			line;			/* -1: a trunk */
	int			to;				/* box that it leads to */
	int			kind;
	bool		arrow;			/* ends at that box, not at a trunk */
	bool		loop;
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
	int			first;			/* box that stands in the first row, or -1 */
	int			last;			/* ... in the last row, or -1 */
	/* results */
	int			w;
	int			h;
	int			npaths;
	SfLayoutPath *paths;
} SfLayout;

extern void sf_layout_make(SfLayout *layout);

#endif							/* SF_GRAPH_LAYOUT_H */
