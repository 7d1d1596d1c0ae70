/*
 * layout_order.c
 *		Second step of a layout: the order of the vertices in each row.
 *
 * The rows are swept downward and upward in turn.  Each sweep sorts a row by
 * the positions of the neighbours in the row before (their median, or their
 * mean), then swaps neighbours while that saves crossings, after Gansner,
 * Koutsofios, North and Vo (1993).  The best order of all sweeps is kept.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "graph/layout.h"

#define MAX_SWEEPS		32		/* from one beginning */
#define WORK_UNITS		600000	/* vertices and arcs, times sweeps from one beginning */

typedef struct Sort
{
	int			vertex;
	double		key;
	int			pos;			/* where the keys are equal */
} Sort;

typedef struct Orders
{
	SfLayoutWork *work;
	int			widest;			/* number of vertices in the widest row */
	int		   *tree;			/* to count inversions */
	Sort	   *sorts;
	int		   *positions;		/* of neighbours */
	int		   *best;			/* order with the fewest crossings … */
	int64		best_crossings; /* … so far */
} Orders;

/* Order integers, for qsort. */
static int
compare_ints(const void *a, const void *b)
{
	int			x = *(const int *) a;
	int			y = *(const int *) b;

	return (x > y) - (x < y);
}

/* Sort integers, few of them in most cases, and nearly in order. */
static void
sort_ints(int *values, int n)
{
	if (n > 16)
	{
		qsort(values, n, sizeof(int), compare_ints);
		return;
	}
	for (int i = 1; i < n; i++)
	{
		int			value = values[i];
		int			j = i;

		for (; j > 0 && values[j - 1] > value; j--)
			values[j] = values[j - 1];
		values[j] = value;
	}
}

/* Order vertices by key, for qsort. */
static int
compare_sorts(const void *a, const void *b)
{
	const Sort *x = a;
	const Sort *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->pos > y->pos) - (x->pos < y->pos);
}

/* Note where each vertex of a row stands. */
static void
number_row(SfLayoutWork *work, int row)
{
	for (int i = work->row_start[row]; i < work->row_start[row + 1]; i++)
		work->vertices[work->order[i]].pos = i - work->row_start[row];
}

/* The positions of a vertex's neighbours above or below, in order; returns their number. */
static int
neighbour_positions(const SfLayoutWork *work, int vertex, bool above, int *positions)
{
	const SfLayoutVertex *v = &work->vertices[vertex];
	const int  *neighbours = &work->neighbours[above ? v->first_up : v->first_down];
	int			n = above ? v->nup : v->ndown;

	for (int i = 0; i < n; i++)
		positions[i] = work->vertices[neighbours[i]].pos;
	sort_ints(positions, n);
	return n;
}

/*
 * Count the crossings between a row and the next: pairs of arcs whose lower
 * ends stand the other way round than their upper ones.
 */
static int64
count_row(Orders *orders, int row)
{
	SfLayoutWork *work = orders->work;
	int			size = work->row_start[row + 2] - work->row_start[row + 1];
	int64		seen = 0;
	int64		crossings = 0;

	memset(orders->tree, 0, sizeof(int) * (size + 1));
	for (int i = work->row_start[row]; i < work->row_start[row + 1]; i++)
	{
		int			n = neighbour_positions(work, work->order[i], false, orders->positions);

		/* those of one vertex do not cross each other */
		for (int j = 0; j < n; j++)
		{
			crossings += seen;
			for (int k = orders->positions[j] + 1; k > 0; k -= k & -k)
				crossings -= orders->tree[k];
		}
		for (int j = 0; j < n; j++)
			for (int k = orders->positions[j] + 1; k <= size; k += k & -k)
				orders->tree[k]++;
		seen += n;
	}
	return crossings;
}

/* Count all crossings. */
static int64
count_crossings(Orders *orders)
{
	int64		sum = 0;

	for (int row = 0; row + 1 < orders->work->nrows; row++)
		sum += count_row(orders, row);
	return sum;
}

/* Keep the order if it is the best so far. */
static void
keep_best(Orders *orders)
{
	int64		crossings = count_crossings(orders);

	if (crossings < orders->best_crossings)
	{
		orders->best_crossings = crossings;
		memcpy(orders->best, orders->work->order, sizeof(int) * orders->work->nvertices);
	}
}

/* The weighted median of sorted positions, which leans to where they are denser. */
static double
median(const int *positions, int n)
{
	int			middle = n / 2;
	int			left;
	int			right;

	if (n % 2 == 1)
		return positions[middle];
	if (n == 2)
		return (positions[0] + positions[1]) / 2.0;
	left = positions[middle - 1] - positions[0];
	right = positions[n - 1] - positions[middle];
	if (left + right == 0)
		return (positions[middle - 1] + positions[middle]) / 2.0;
	return ((double) positions[middle - 1] * right + (double) positions[middle] * left) /
		(left + right);
}

/* The mean of positions. */
static double
mean(const int *positions, int n)
{
	double		sum = 0;

	for (int i = 0; i < n; i++)
		sum += positions[i];
	return sum / n;
}

/* Sort a row by its neighbours above or below; vertices without any stay. */
static void
sort_row(Orders *orders, int row, bool above, bool by_median)
{
	SfLayoutWork *work = orders->work;
	int		   *order = &work->order[work->row_start[row]];
	int			size = work->row_start[row + 1] - work->row_start[row];
	int			nsorts = 0;
	int			next = 0;

	for (int i = 0; i < size; i++)
	{
		int			n = neighbour_positions(work, order[i], above, orders->positions);

		if (n == 0)
			continue;
		orders->sorts[nsorts].vertex = order[i];
		orders->sorts[nsorts].pos = i;
		orders->sorts[nsorts++].key = by_median ? median(orders->positions, n) : mean(orders->positions, n);
	}
	qsort(orders->sorts, nsorts, sizeof(Sort), compare_sorts);
	for (int i = 0; i < size; i++)
	{
		const SfLayoutVertex *v = &work->vertices[order[i]];

		if ((above ? v->nup : v->ndown) > 0)
			order[i] = orders->sorts[next++].vertex;
	}
	number_row(work, row);
}

/* Count the pairs of positions of which that of a is the greater one. */
static int
count_inversions(const int *a, int na, const int *b, int nb)
{
	int			sum = 0;
	int			j = 0;

	for (int i = 0; i < na; i++)
	{
		while (j < nb && b[j] < a[i])
			j++;
		sum += j;
	}
	return sum;
}

/* How many crossings are saved if a vertex changes positions with the next one. */
static int
gain_of_swap(Orders *orders, int left, int right)
{
	int			gain = 0;

	for (int above = 0; above < 2; above++)
	{
		int			n = neighbour_positions(orders->work, left, above, orders->positions);
		int			m = neighbour_positions(orders->work, right, above, orders->positions + n);

		gain += count_inversions(orders->positions, n, orders->positions + n, m) -
			count_inversions(orders->positions + n, m, orders->positions, n);
	}
	return gain;
}

/* Swap neighbours in all rows once; returns whether crossings were saved. */
static bool
swap_once(Orders *orders, bool equal_too)
{
	SfLayoutWork *work = orders->work;
	bool		saved = false;

	for (int row = 0; row < work->nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = work->row_start[row]; i + 1 < work->row_start[row + 1]; i++)
		{
			int			left = work->order[i];
			int			right = work->order[i + 1];
			int			gain = gain_of_swap(orders, left, right);

			if (gain < 0 || (gain == 0 && !equal_too))
				continue;
			work->order[i] = right;
			work->order[i + 1] = left;
			work->vertices[right].pos--;
			work->vertices[left].pos++;
			saved = saved || gain > 0;
		}
	}
	return saved;
}

/* Sweep through all rows once. */
static void
sweep(Orders *orders, int number)
{
	int			nrows = orders->work->nrows;
	bool		down = number % 2 == 0;
	int			rounds = 0;

	for (int i = 1; i < nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		sort_row(orders, down ? i : nrows - 1 - i, down, number % 4 < 2);
	}
	while (rounds++ < 4 && swap_once(orders, number % 8 >= 6))
		;
}

/* Put the vertices that a walk from a vertex meets first into their rows. */
static void
lay_from(Orders *orders, int vertex, bool reverse, bool *seen, int *fill, int *stack)
{
	SfLayoutWork *work = orders->work;
	int			depth = 0;

	stack[depth++] = vertex;
	seen[vertex] = true;
	while (depth > 0)
	{
		const SfLayoutVertex *v = &work->vertices[stack[--depth]];

		work->order[fill[v->row]++] = stack[depth];
		for (int i = 0; i < v->ndown; i++)
		{
			/* the first one is to be taken from the stack first */
			int			next = SF_LAYOUT_DOWN(work, v, reverse ? i : v->ndown - 1 - i);

			if (seen[next])
				continue;
			seen[next] = true;
			stack[depth++] = next;
		}
	}
}

/* Begin with the order of a walk through the vertices. */
static void
lay_all(Orders *orders, bool reverse)
{
	SfLayoutWork *work = orders->work;
	bool	   *seen = palloc0(sizeof(bool) * work->nvertices);
	int		   *stack = palloc(sizeof(int) * work->nvertices);
	int		   *fill = palloc(sizeof(int) * work->nrows);

	memcpy(fill, work->row_start, sizeof(int) * work->nrows);
	for (int i = 0; i < work->nvertices; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!seen[i] && work->vertices[i].nup == 0)
			lay_from(orders, i, reverse, seen, fill, stack);
	}
	for (int row = 0; row < work->nrows; row++)
		number_row(work, row);
	pfree(seen);
	pfree(stack);
	pfree(fill);
}

/* Reserve what the sweeps need. */
static void
prepare(Orders *orders)
{
	SfLayoutWork *work = orders->work;
	int			most = 1;

	work->row_start = palloc0(sizeof(int) * (work->nrows + 1));
	work->order = palloc(sizeof(int) * work->nvertices);
	for (int i = 0; i < work->nvertices; i++)
	{
		work->row_start[work->vertices[i].row + 1]++;
		most = Max(most, work->vertices[i].nup + work->vertices[i].ndown);
	}
	for (int row = 0; row < work->nrows; row++)
	{
		orders->widest = Max(orders->widest, work->row_start[row + 1]);
		work->row_start[row + 1] += work->row_start[row];
	}
	orders->tree = palloc(sizeof(int) * (orders->widest + 1));
	orders->sorts = palloc(sizeof(Sort) * orders->widest);
	orders->positions = palloc(sizeof(int) * 2 * most);
	orders->best = palloc(sizeof(int) * work->nvertices);
	orders->best_crossings = PG_INT64_MAX;
}

/* Find an order of the vertices in each row with few crossings. */
void
sf_layout_order(SfLayoutWork *work)
{
	Orders		orders = {.work = work};
	int			nsweeps = WORK_UNITS / (work->narcs + work->nvertices + 1);

	prepare(&orders);
	for (int reverse = 0; reverse < 2 && orders.best_crossings > 0; reverse++)
	{
		lay_all(&orders, reverse);
		keep_best(&orders);
		for (int i = 0; i < Max(2, Min(nsweeps, MAX_SWEEPS)) && orders.best_crossings > 0; i++)
		{
			sweep(&orders, i);
			keep_best(&orders);
		}
	}
	memcpy(work->order, orders.best, sizeof(int) * work->nvertices);
	for (int row = 0; row < work->nrows; row++)
		number_row(work, row);
}
