/*
 * layout_columns.c
 *		Third step of a layout: the coordinate of each vertex in its row.
 *
 * After Brandes and Koepf, "Fast and Simple Horizontal Coordinate Assignment"
 * (2001).  Vertices are aligned with the median of their neighbours in the row
 * before; aligned vertices form a block, which is drawn as a vertical line.
 * Blocks are then packed as closely as their rows allow.  This is done four
 * times: with the neighbours above and below, packed to the left and to the
 * right.  The coordinate of a vertex is the mean of the two middle results.
 *
 * The knots of a trunk come first: nothing keeps them from being aligned but
 * another trunk.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "graph/layout.h"

#define GAP_BOXES	30			/* between two boxes */
#define GAP_LINES	14			/* between a line and anything else */
#define NPASSES		4

/* One of the four times */
typedef struct Pass
{
	SfLayoutWork *work;
	const bool *conflict;		/* by entry of neighbours: arc that crosses a trunk */
	bool		above;			/* align with the neighbours above */
	bool		leftward;		/* pack to the left */
	int		   *root;			/* of the block of each vertex */
	int		   *align;			/* next vertex of its block, in a circle */
	int		   *x;				/* by vertex; the root's, at first */
	int		   *candidates;		/* of one vertex */
} Pass;

/* Order vertices by their positions in a row, for qsort_arg. */
static int
compare_positions(const void *a, const void *b, void *work)
{
	const SfLayoutVertex *vertices = ((SfLayoutWork *) work)->vertices;

	return vertices[*(const int *) a].pos - vertices[*(const int *) b].pos;
}

/* Sort the neighbours of each vertex by their positions. */
static void
sort_neighbours(SfLayoutWork *work)
{
	for (int i = 0; i < work->nvertices; i++)
	{
		const SfLayoutVertex *v = &work->vertices[i];

		CHECK_FOR_INTERRUPTS();
		qsort_arg(work->neighbours + v->first_up, v->nup, sizeof(int),
				  compare_positions, work);
		qsort_arg(work->neighbours + v->first_down, v->ndown, sizeof(int),
				  compare_positions, work);
	}
}

/* Are two vertices of neighbouring rows knots of one trunk? */
static bool
is_trunk(const SfLayoutWork *work, int a, int b)
{
	const SfLayoutVertex *v = &work->vertices[a];
	const SfLayoutVertex *w = &work->vertices[b];

	return v->type == SF_VERTEX_KNOT && w->type == SF_VERTEX_KNOT && (v->next == b || w->next == a);
}

/* The knot above a knot in its trunk, or SF_LAYOUT_NO_VERTEX. */
static int
knot_above(const SfLayoutWork *work, int vertex)
{
	const SfLayoutVertex *v = &work->vertices[vertex];

	for (int i = 0; i < v->nup; i++)
		if (is_trunk(work, SF_LAYOUT_UP(work, v, i), vertex))
			return SF_LAYOUT_UP(work, v, i);
	return SF_LAYOUT_NO_VERTEX;
}

/* Mark the arcs from a vertex up to positions outside of two limits. */
static void
flag_arcs(const SfLayoutWork *work, int vertex, int from, int to, bool *conflict)
{
	const SfLayoutVertex *v = &work->vertices[vertex];

	for (int i = 0; i < v->nup; i++)
	{
		int			above = SF_LAYOUT_UP(work, v, i);
		int			pos = work->vertices[above].pos;

		if ((pos < from || pos > to) && !is_trunk(work, above, vertex))
			conflict[v->first_up + i] = true;
	}
}

/* Mark the arcs that cross a trunk between a row and the row above. */
static void
flag_conflicts(const SfLayoutWork *work, int row, bool *conflict)
{
	int			from = 0;
	int			done = work->row_start[row];

	for (int i = work->row_start[row]; i < work->row_start[row + 1]; i++)
	{
		bool		is_last = i + 1 == work->row_start[row + 1];
		int			knot = knot_above(work, work->order[i]);
		int			to;

		if (knot == SF_LAYOUT_NO_VERTEX && !is_last)
			continue;
		to = knot == SF_LAYOUT_NO_VERTEX ? PG_INT32_MAX : work->vertices[knot].pos;
		for (; done <= i; done++)
			flag_arcs(work, work->order[done], from, to, conflict);
		from = to;
	}
}

/* Tell whether the arc between two vertices crosses a trunk. */
static bool
crosses_trunk(const Pass *pass, int vertex, int neighbour)
{
	const SfLayoutVertex *lower = &pass->work->vertices[pass->above ? vertex : neighbour];
	int			upper = pass->above ? neighbour : vertex;

	for (int i = 0; i < lower->nup; i++)
		if (SF_LAYOUT_UP(pass->work, lower, i) == upper)
			return pass->conflict[lower->first_up + i];
	return false;
}

/* The coordinate of a vertex, counted from the side to which blocks are packed. */
static int
coordinate_of(const Pass *pass, int vertex)
{
	int			pos = pass->work->vertices[vertex].pos;

	return pass->leftward ? pos : -pos;
}

/* Try to align a vertex with a neighbour; limit: coordinate of the last one aligned with. */
static bool
try_align(Pass *pass, int vertex, int neighbour, int *limit)
{
	if (coordinate_of(pass, neighbour) <= *limit || crosses_trunk(pass, vertex, neighbour))
		return false;
	pass->align[neighbour] = vertex;
	pass->root[vertex] = pass->root[neighbour];
	pass->align[vertex] = pass->root[vertex];
	*limit = coordinate_of(pass, neighbour);
	return true;
}

/* Does a line belong to the main flow: neither a way back nor a catch? */
static bool
is_main(const SfLayoutWork *work, int vertex)
{
	return work->vertices[vertex].kind == SF_LAYOUT_MAIN && !work->vertices[vertex].upward;
}

/*
 * List the neighbours that a vertex may be aligned with: those of its trunk,
 * else those of the main flow, else all.  Returns their number.
 */
static int
list_candidates(const Pass *pass, int vertex, int *out)
{
	const SfLayoutVertex *v = &pass->work->vertices[vertex];
	const int  *neighbours = &pass->work->neighbours[pass->above ? v->first_up : v->first_down];
	int			n = pass->above ? v->nup : v->ndown;
	int			nout = 0;

	for (int i = 0; v->type == SF_VERTEX_KNOT && i < n; i++)
	{
		out[0] = neighbours[i];
		if (is_trunk(pass->work, vertex, neighbours[i]))
			return 1;
	}
	for (int i = 0; i < n; i++)
		if (is_main(pass->work, neighbours[i]))
			out[nout++] = neighbours[i];
	if (nout == 0 && n > 0)
	{
		memcpy(out, neighbours, sizeof(int) * n);
		nout = n;
	}
	return nout;
}

/* Align a vertex with the median of its candidates. */
static void
align_vertex(Pass *pass, int vertex, int *limit)
{
	int			n = list_candidates(pass, vertex, pass->candidates);
	int			low = (n - 1) / 2;
	int			high = n / 2;

	if (n == 0)
		return;
	if (!try_align(pass, vertex, pass->candidates[pass->leftward ? low : high], limit))
		try_align(pass, vertex, pass->candidates[pass->leftward ? high : low], limit);
}

/* Form the blocks. */
static void
align_all(Pass *pass)
{
	SfLayoutWork *work = pass->work;

	for (int i = 0; i < work->nvertices; i++)
		pass->root[i] = pass->align[i] = i;
	for (int i = 1; i < work->nrows; i++)
	{
		int			row = pass->above ? i : work->nrows - 1 - i;
		int			start = work->row_start[row];
		int			size = work->row_start[row + 1] - start;
		int			limit = PG_INT32_MIN;

		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < size; j++)
			align_vertex(pass, work->order[start + (pass->leftward ? j : size - 1 - j)], &limit);
	}
}

/* The vertex beside a vertex, on the side to which is not packed, or SF_LAYOUT_NO_VERTEX. */
static int
vertex_beside(const Pass *pass, int vertex)
{
	const SfLayoutVertex *v = &pass->work->vertices[vertex];
	int			i = pass->work->row_start[v->row] + v->pos + (pass->leftward ? 1 : -1);

	return i < pass->work->row_start[v->row] || i >= pass->work->row_start[v->row + 1]
		? SF_LAYOUT_NO_VERTEX : pass->work->order[i];
}

/* How far apart the middles of two vertices must be. */
static int
distance(const SfLayoutWork *work, int a, int b)
{
	const SfLayoutVertex *v = &work->vertices[a];
	const SfLayoutVertex *w = &work->vertices[b];

	return (v->w + w->w + 1) / 2 +
		(v->type == SF_VERTEX_BOX && w->type == SF_VERTEX_BOX ? GAP_BOXES : GAP_LINES);
}

/* Sort the blocks so that each comes after those it is packed against. */
static int
sort_blocks(const Pass *pass, int *blocks)
{
	int			n = pass->work->nvertices;
	int		   *nbefore = palloc0(sizeof(int) * n);
	int			nblocks = 0;

	for (int i = 0; i < n; i++)
		if (vertex_beside(pass, i) != SF_LAYOUT_NO_VERTEX)
			nbefore[pass->root[vertex_beside(pass, i)]]++;
	for (int i = 0; i < n; i++)
		if (pass->root[i] == i && nbefore[i] == 0)
			blocks[nblocks++] = i;
	for (int i = 0; i < nblocks; i++)
	{
		int			vertex = blocks[i];

		do
		{
			int			beside = vertex_beside(pass, vertex);

			if (beside != SF_LAYOUT_NO_VERTEX && --nbefore[pass->root[beside]] == 0)
				blocks[nblocks++] = pass->root[beside];
			vertex = pass->align[vertex];
		} while (vertex != blocks[i]);
	}
	pfree(nbefore);
	return nblocks;
}

/* Push the blocks beside a block as far away as they have to be. */
static void
push_neighbours(Pass *pass, int block)
{
	int			vertex = block;

	do
	{
		int			beside = vertex_beside(pass, vertex);

		if (beside != SF_LAYOUT_NO_VERTEX)
			pass->x[pass->root[beside]] = Max(pass->x[pass->root[beside]],
											  pass->x[block] + distance(pass->work, vertex, beside));
		vertex = pass->align[vertex];
	} while (vertex != block);
}

/* Pull a block as near as possible to the blocks beside it. */
static void
pull_block(Pass *pass, int block)
{
	int			vertex = block;
	int			room = PG_INT32_MAX;

	do
	{
		int			beside = vertex_beside(pass, vertex);

		if (beside != SF_LAYOUT_NO_VERTEX)
			room = Min(room, pass->x[pass->root[beside]] - pass->x[block] -
					   distance(pass->work, vertex, beside));
		vertex = pass->align[vertex];
	} while (vertex != block);
	if (room != PG_INT32_MAX)
		pass->x[block] += Max(0, room);
}

/* Pack the blocks, and give each vertex the coordinate of its block. */
static void
pack(Pass *pass)
{
	int			n = pass->work->nvertices;
	int		   *blocks = palloc(sizeof(int) * n);
	int			nblocks = sort_blocks(pass, blocks);

	for (int i = 0; i < nblocks; i++)
	{
		CHECK_FOR_INTERRUPTS();
		push_neighbours(pass, blocks[i]);
	}
	for (int i = nblocks - 1; i >= 0; i--)
	{
		CHECK_FOR_INTERRUPTS();
		pull_block(pass, blocks[i]);
	}
	for (int i = 0; i < n; i++)
		pass->x[i] = pass->x[pass->root[i]];
	/* distances were counted from the right */
	for (int i = 0; i < n && !pass->leftward; i++)
		pass->x[i] = -pass->x[i];
	pfree(blocks);
}

/* Find the leftmost and the rightmost edge of a result. */
static void
find_extent(const Pass *pass, int *left, int *right)
{
	*left = PG_INT32_MAX;
	*right = PG_INT32_MIN;
	for (int i = 0; i < pass->work->nvertices; i++)
	{
		*left = Min(*left, pass->x[i] - pass->work->vertices[i].w / 2);
		*right = Max(*right, pass->x[i] + pass->work->vertices[i].w / 2);
	}
}

/* Move the results so that their packed sides agree with the narrowest one. */
static void
align_results(Pass *passes)
{
	int			left[NPASSES];
	int			right[NPASSES];
	int			narrowest = 0;

	for (int i = 0; i < NPASSES; i++)
	{
		find_extent(&passes[i], &left[i], &right[i]);
		if (right[i] - left[i] < right[narrowest] - left[narrowest])
			narrowest = i;
	}
	for (int i = 0; i < NPASSES; i++)
	{
		int			shift = passes[i].leftward ? left[narrowest] - left[i]
			: right[narrowest] - right[i];

		for (int j = 0; j < passes[i].work->nvertices; j++)
			passes[i].x[j] += shift;
	}
}

/* The mean of the second and third of four numbers. */
static int
middle_mean(const Pass *passes, int vertex)
{
	int			least = PG_INT32_MAX;
	int			greatest = PG_INT32_MIN;
	int			sum = 0;

	for (int i = 0; i < NPASSES; i++)
	{
		least = Min(least, passes[i].x[vertex]);
		greatest = Max(greatest, passes[i].x[vertex]);
		sum += passes[i].x[vertex];
	}
	return (sum - least - greatest) / 2;
}

/* Find a coordinate for each vertex in its row; the picture begins at 0. */
void
sf_layout_columns(SfLayoutWork *work)
{
	Pass		passes[NPASSES];
	bool	   *conflict = palloc0(sizeof(bool) * Max(2 * work->narcs, 1));
	int			left = PG_INT32_MAX;

	sort_neighbours(work);
	for (int row = 1; row < work->nrows; row++)
		flag_conflicts(work, row, conflict);
	for (int i = 0; i < NPASSES; i++)
	{
		passes[i] = (Pass)
		{
			.work = work, .conflict = conflict, .above = i % 2 == 0, .leftward = i < 2
		};
		passes[i].root = palloc(sizeof(int) * work->nvertices);
		passes[i].align = palloc(sizeof(int) * work->nvertices);
		passes[i].x = palloc0(sizeof(int) * work->nvertices);
		passes[i].candidates = palloc(sizeof(int) * Max(work->narcs, 1));
		align_all(&passes[i]);
		pack(&passes[i]);
	}
	align_results(passes);
	for (int i = 0; i < work->nvertices; i++)
	{
		work->vertices[i].x = middle_mean(passes, i);
		left = Min(left, work->vertices[i].x - work->vertices[i].w / 2);
	}
	for (int i = 0; i < work->nvertices; i++)
		work->vertices[i].x -= left;
}
