/*
 * svg.c
 *		A program as an SVG picture, with a layout of our own.
 *
 * Inner scopes are laid out before the scopes around them.  The states of a
 * scope stand in layers: a state's layer is the length of the longest path to
 * it from StartAt.  Transitions that lead back do not count; a depth-first
 * walk finds them.  A layer is a centred row.  A Parallel or Map state is a
 * box that has room for its branches side by side.
 *
 * Then positions are made absolute, outer scopes first.  A transition is a
 * curve from the bottom of one box to the top of another; transitions that
 * lead back leave and enter on the right.
 */
#include "postgres.h"

#include "graph/graph.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#define CHAR_WIDTH	7			/* of a narrow character, in pixels */
#define BOX_HEIGHT	44
#define BOX_MIN		90
#define TITLE		26			/* height of a Parallel's or Map's title */
#define PAD			16			/* inside a box, around what it holds */
#define GAP_X		28			/* between boxes of a row */
#define GAP_Y		46			/* between rows */

typedef struct SvgBox
{
	int			layer;
	int			x;				/* relative to the scope, then absolute */
	int			y;
	int			w;
	int			h;
} SvgBox;

typedef struct SvgEdge
{
	int			from;
	int			to;
	SfEdgeKind	kind;
	bool		back;			/* leads back to a state on the way here */
	const char *label;
} SvgEdge;

typedef struct SvgScope
{
	int			x;				/* relative to the owner's box, then absolute */
	int			y;
	int			w;
	int			h;
	int			nedges;
	int			size;
	SvgEdge    *edges;			/* in order of from */
	int		   *first_edge;		/* by state - scope's first; one more at the end */
} SvgScope;

typedef struct Svg
{
	StringInfo	out;
	const SfProgram *program;
	const int  *status_by_state;	/* or NULL */
	SvgBox	   *boxes;			/* by state */
	SvgScope   *scopes;			/* by scope */
} Svg;

/* --- layout --- */

/* Width of a text in pixels; East Asian characters are twice as wide. */
static int
text_width(const char *text)
{
	int			width = 0;

	for (; *text != '\0'; text += pg_mblen(text))
		width += pg_dsplen(text) > 1 ? 2 : 1;
	return width * CHAR_WIDTH;
}

/* Note a transition. */
static void
collect_edge(void *arg, const SfState *from, int to, SfEdgeKind kind,
			 const char *label)
{
	SvgScope   *scope = arg;
	SvgEdge    *edge;

	if (scope->nedges == scope->size)
	{
		scope->size = Max(16, scope->size * 2);
		scope->edges = scope->edges == NULL
			? palloc(sizeof(SvgEdge) * scope->size)
			: repalloc_huge(scope->edges, sizeof(SvgEdge) * scope->size);
	}
	edge = &scope->edges[scope->nedges++];
	edge->from = from->number;
	edge->to = to;
	edge->kind = kind;
	edge->back = false;
	edge->label = label;
}

/* Collect the transitions of a scope. */
static void
collect_edges(Svg *s, const SfScope *scope)
{
	SvgScope   *drawn = &s->scopes[scope->number];
	int			i;

	drawn->first_edge = palloc(sizeof(int) * (scope->last - scope->first + 2));
	for (i = scope->first; i <= scope->last; i++)
	{
		CHECK_FOR_INTERRUPTS();
		drawn->first_edge[i - scope->first] = drawn->nedges;
		if (s->program->states[i].scope == scope->number)
			sf_graph_visit_edges(&s->program->states[i], collect_edge, drawn);
	}
	drawn->first_edge[i - scope->first] = drawn->nedges;
}

/*
 * Walk a scope depth first: mark transitions that lead back, and return the
 * states in reverse order of leaving them, which is a topological order of the
 * rest.
 */
static int *
order_states(Svg *s, const SfScope *scope, int *count)
{
	SvgScope   *drawn = &s->scopes[scope->number];
	int			n = scope->last - scope->first + 1;
	int		   *order = palloc(sizeof(int) * n);
	int		   *stack = palloc(sizeof(int) * n);
	int		   *next_edge = palloc(sizeof(int) * n);
	char	   *colour = palloc0(n);	/* 0 unseen, 1 on the stack, 2 left */
	int			depth = 0;
	int			left = n;

	memcpy(next_edge, drawn->first_edge, sizeof(int) * n);
	stack[depth++] = scope->start - scope->first;
	colour[scope->start - scope->first] = 1;
	while (depth > 0)
	{
		int			state = stack[depth - 1];

		CHECK_FOR_INTERRUPTS();
		if (next_edge[state] == drawn->first_edge[state + 1])
		{
			colour[state] = 2;
			order[--left] = state + scope->first;
			depth--;
		}
		else
		{
			SvgEdge    *edge = &drawn->edges[next_edge[state]++];
			int			to = edge->to - scope->first;

			if (colour[to] == 1)
				edge->back = true;
			else if (colour[to] == 0)
			{
				colour[to] = 1;
				stack[depth++] = to;
			}
		}
	}
	memmove(order, order + left, sizeof(int) * (n - left));
	*count = n - left;
	pfree(stack);
	pfree(next_edge);
	pfree(colour);
	return order;
}

static void size_scope(Svg *s, const SfScope *scope);

/* Find out how large a state is drawn. */
static void
size_state(Svg *s, const SfState *state)
{
	SvgBox	   *box = &s->boxes[state->number];
	int			i;

	box->w = Max(text_width(state->name), text_width(sf_graph_subtitle(state)));
	box->w = Max(box->w + 2 * PAD, BOX_MIN);
	box->h = BOX_HEIGHT;
	if (state->nscopes > 0)
	{
		int			x = PAD;

		box->h = 0;
		for (i = 0; i < state->nscopes; i++)
		{
			SvgScope   *inner = &s->scopes[state->scopes[i]];

			size_scope(s, &s->program->scopes[state->scopes[i]]);
			inner->x = x;
			inner->y = TITLE;
			x += inner->w + PAD;
			box->h = Max(box->h, inner->h);
		}
		box->w = Max(box->w + TITLE, x);
		box->h += TITLE + PAD;
	}
}

/* Put the states of a scope into rows. */
static void
size_scope(Svg *s, const SfScope *scope)
{
	SvgScope   *drawn = &s->scopes[scope->number];
	int			count;
	int		   *order;
	int			nlayers = 0;
	int		   *row_width;
	int		   *row_height;
	int			i;
	int			j;

	check_stack_depth();
	collect_edges(s, scope);
	order = order_states(s, scope, &count);
	for (i = 0; i < count; i++)
	{
		SvgBox	   *box = &s->boxes[order[i]];
		int			index = order[i] - scope->first;

		size_state(s, &s->program->states[order[i]]);
		for (j = drawn->first_edge[index]; j < drawn->first_edge[index + 1]; j++)
		{
			SvgEdge    *edge = &drawn->edges[j];

			if (!edge->back)
				s->boxes[edge->to].layer = Max(s->boxes[edge->to].layer,
											   box->layer + 1);
		}
		nlayers = Max(nlayers, box->layer + 1);
	}

	row_width = palloc0(sizeof(int) * nlayers);
	row_height = palloc0(sizeof(int) * nlayers);
	for (i = 0; i < count; i++)
	{
		SvgBox	   *box = &s->boxes[order[i]];

		box->x = row_width[box->layer];
		row_width[box->layer] += box->w + GAP_X;
		row_height[box->layer] = Max(row_height[box->layer], box->h);
		drawn->w = Max(drawn->w, row_width[box->layer] - GAP_X);
	}
	drawn->w += 2 * PAD;
	drawn->h = PAD;
	for (i = 0; i < nlayers; i++)
	{
		int			height = row_height[i];

		row_height[i] = drawn->h;	/* from now on where the row begins */
		drawn->h += height + (i < nlayers - 1 ? GAP_Y : PAD);
	}
	for (i = 0; i < count; i++)
	{
		SvgBox	   *box = &s->boxes[order[i]];

		box->x += (drawn->w - (row_width[box->layer] - GAP_X)) / 2;
		box->y = row_height[box->layer];
	}
	pfree(row_width);
	pfree(row_height);
	pfree(order);
}

/* Make the places of a scope and of what is in it absolute. */
static void
place_scope(Svg *s, const SfScope *scope, int x, int y)
{
	int			i;
	int			j;

	check_stack_depth();
	s->scopes[scope->number].x = x;
	s->scopes[scope->number].y = y;
	for (i = scope->first; i <= scope->last; i++)
	{
		const SfState *state = &s->program->states[i];
		SvgBox	   *box = &s->boxes[i];

		if (state->scope != scope->number)
			continue;
		box->x += x;
		box->y += y;
		for (j = 0; j < state->nscopes; j++)
		{
			SvgScope   *inner = &s->scopes[state->scopes[j]];

			place_scope(s, &s->program->scopes[state->scopes[j]],
						box->x + inner->x, box->y + inner->y);
		}
	}
}

/* --- drawing --- */

/* Draw a line of text, centred. */
static void
draw_text(Svg *s, const char *class, int x, int y, const char *text)
{
	appendStringInfo(s->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
	sf_graph_append(s->out, text, "&<>\"'", "&#%d;");
	appendStringInfoString(s->out, "</text>\n");
}

/* Draw one transition. */
static void
draw_edge(Svg *s, const SvgEdge *edge)
{
	const SvgBox *from = &s->boxes[edge->from];
	const SvgBox *to = &s->boxes[edge->to];
	int			x1 = from->x + from->w / 2;
	int			y1 = from->y + from->h;
	int			x2 = to->x + to->w / 2;
	int			y2 = to->y;
	int			bend = (y2 - y1) / 2;
	int			cx1 = x1;		/* the points that the curve is drawn to */
	int			cy1 = y1 + bend;
	int			cx2 = x2;
	int			cy2 = y2 - bend;

	if (edge->back)
	{
		x1 = from->x + from->w;
		x2 = to->x + to->w;
		cy1 = y1 = from->y + from->h / 2;
		cy2 = y2 = to->y + to->h / 2;
		cx1 = cx2 = Max(x1, x2) + 2 * PAD;
	}
	appendStringInfo(s->out, "<path class=\"%s\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"/>\n",
					 edge->kind == SF_EDGE_CATCH ? "catch" : "edge",
					 x1, y1, cx1, cy1, cx2, cy2, x2, y2);
	if (edge->back)
		x1 = x2 = cx1;
	if (edge->label != NULL)
		draw_text(s, "label", (x1 + x2) / 2, (y1 + y2) / 2, edge->label);
}

static void draw_scope(Svg *s, const SfScope *scope);

/* Draw one state. */
static void
draw_state(Svg *s, const SfState *state)
{
	const SvgBox *box = &s->boxes[state->number];
	int			middle = box->x + box->w / 2;
	int			i;

	appendStringInfo(s->out, "<rect class=\"state %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n",
					 s->status_by_state == NULL ? "entry"
					 : sf_graph_statuses[s->status_by_state[state->number]].name,
					 box->x, box->y, box->w, box->h,
					 state->type == SF_STATE_CHOICE ? BOX_HEIGHT / 2 : 6);
	if (state->nscopes == 0)
	{
		draw_text(s, "name", middle, box->y + 19, state->name);
		draw_text(s, "type", middle, box->y + 35, sf_graph_subtitle(state));
		return;
	}
	draw_text(s, "name", middle, box->y + 18,
			  psprintf("%s (%s)", state->name, sf_state_type_name(state->type)));
	for (i = 0; i < state->nscopes; i++)
	{
		const SvgScope *inner = &s->scopes[state->scopes[i]];

		appendStringInfo(s->out, "<rect class=\"branch\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n",
						 inner->x, inner->y, inner->w, inner->h);
		draw_scope(s, &s->program->scopes[state->scopes[i]]);
	}
}

/* Draw a scope: the transitions below the boxes. */
static void
draw_scope(Svg *s, const SfScope *scope)
{
	const SvgScope *drawn = &s->scopes[scope->number];
	int			i;

	check_stack_depth();
	for (i = 0; i < drawn->nedges; i++)
		draw_edge(s, &drawn->edges[i]);
	for (i = scope->first; i <= scope->last; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (s->program->states[i].scope == scope->number)
			draw_state(s, &s->program->states[i]);
	}
}

/* Draw where the machine begins and where it can end. */
static void
draw_ends(Svg *s, int bottom)
{
	const SfScope *scope = &s->program->scopes[0];
	const SvgBox *start = &s->boxes[scope->start];
	int			stop_x = s->scopes[0].w / 2;
	int			x = start->x + start->w / 2;
	int			i;

	appendStringInfo(s->out, "<circle class=\"end\" cx=\"%d\" cy=\"12\" r=\"6\"/>\n"
					 "<path class=\"edge\" d=\"M%d,18 L%d,%d\"/>\n",
					 x, x, x, start->y);
	for (i = scope->first; i <= scope->last; i++)
	{
		const SvgBox *box = &s->boxes[i];

		if (!sf_graph_ends(scope, &s->program->states[i]))
			continue;
		x = box->x + box->w / 2;
		appendStringInfo(s->out, "<path class=\"edge\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"/>\n",
						 x, box->y + box->h, x, bottom - 10, stop_x,
						 box->y + box->h + 10, stop_x, bottom - 8);
	}
	appendStringInfo(s->out, "<circle class=\"ring\" cx=\"%d\" cy=\"%d\" r=\"8\"/>"
					 "<circle class=\"end\" cx=\"%d\" cy=\"%d\" r=\"4\"/>\n",
					 stop_x, bottom, stop_x, bottom);
}

/* Say what the colours mean. */
static void
draw_legend(Svg *s, int y)
{
	int			nstatuses = sf_graph_legend_size(s->program, s->status_by_state);
	int			i;

	for (i = 0; i < nstatuses; i++)
	{
		int			x = PAD + i * (BOX_MIN + 4);

		appendStringInfo(s->out, "<rect class=\"state %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" rx=\"4\"/>\n",
						 sf_graph_statuses[i].name, x, y, BOX_MIN);
		draw_text(s, "type", x + BOX_MIN / 2, y + 14, sf_graph_statuses[i].name);
	}
}

/* Open the drawing: size, colours, arrow heads. */
static void
draw_head(Svg *s, int width, int height)
{
	int			i;

	appendStringInfo(s->out,
					 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
					 "<style>\n"
					 "text { font: 12px sans-serif; text-anchor: middle; fill: #1b1f24; }\n"
					 "text.type, text.label { font-size: 10px; fill: #57606a; }\n"
					 "text.label { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }\n"
					 "rect.branch { fill: #ffffff; stroke: #b0b0b0; stroke-dasharray: 4 3; }\n"
					 "path { fill: none; stroke: #57606a; marker-end: url(#arrow); }\n"
					 "path.catch { stroke: #b3261e; stroke-dasharray: 5 3; }\n"
					 "circle.end { fill: #57606a; }\n"
					 "circle.ring { fill: none; stroke: #57606a; }\n",
					 width, height, width, height);
	for (i = 0; i <= SF_GRAPH_UNKNOWN; i++)
		appendStringInfo(s->out, "rect.%s { fill: %s; stroke: %s;%s }\n",
						 sf_graph_statuses[i].name, sf_graph_statuses[i].fill,
						 sf_graph_statuses[i].border,
						 sf_graph_statuses[i].dashed ? " stroke-dasharray: 4 3;" : "");
	appendStringInfoString(s->out,
						   "</style>\n"
						   "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
						   "<polygon points=\"0,0 8,4 0,8\" fill=\"#57606a\"/></marker></defs>\n");
}

/* Draw a program as a document of its own. */
void
sf_graph_svg(SfDrawing *d)
{
	const SfProgram *program = d->program;
	Svg			s = {d->out, program, d->status_by_state, NULL, NULL};
	int			bottom;
	int			width;

	s.boxes = palloc0(sizeof(SvgBox) * program->nstates);
	s.scopes = palloc0(sizeof(SvgScope) * program->nscopes);
	size_scope(&s, &program->scopes[0]);
	place_scope(&s, &program->scopes[0], 0, 24);

	bottom = 24 + s.scopes[0].h + 24;
	width = s.scopes[0].w + 2 * PAD;
	if (d->status_by_state != NULL)
		width = Max(width, 2 * PAD + (BOX_MIN + 4) *
					sf_graph_legend_size(program, d->status_by_state));
	draw_head(&s, width, bottom + (d->status_by_state ? 56 : 20));
	draw_scope(&s, &program->scopes[0]);
	draw_ends(&s, bottom);
	if (d->status_by_state != NULL)
		draw_legend(&s, bottom + 24);
	appendStringInfoString(d->out, "</svg>\n");
}
