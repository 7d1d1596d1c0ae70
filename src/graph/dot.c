/*
 * dot.c
 *		A program in the language of Graphviz.
 *
 * A Parallel or Map state is a cluster with two points in it: s<number>, where
 * its branches start, and s<number>_end, where they join.  Transitions to the
 * state lead to the first point, transitions from it start at the second.
 */
#include "postgres.h"

#include "graph/graph.h"
#include "miscadmin.h"

static const char *const shapes[] = {
	[SF_STATE_PASS] = "box",
	[SF_STATE_TASK] = "box",
	[SF_STATE_CHOICE] = "diamond",
	[SF_STATE_WAIT] = "box",
	[SF_STATE_SUCCEED] = "box",
	[SF_STATE_FAIL] = "octagon",
	[SF_STATE_PARALLEL] = "box",
	[SF_STATE_MAP] = "box",
};

typedef struct SfDot
{
	StringInfo	out;
	const SfProgram *program;
	const int  *status_by_state;	/* or NULL */
	int			depth;			/* of indentation */
} SfDot;

/* Begin a line. */
static void
indent(SfDot *d)
{
	appendStringInfoSpaces(d->out, 4 * d->depth);
}

/* Append text to a quoted string; backslashes would be escapes in a label. */
static void
append_quoted(StringInfo out, const char *text)
{
	for (; *text != '\0'; text++)
	{
		unsigned char ch = *text;

		if (ch == '"' || ch == '\\')
			appendStringInfo(out, "\\%c", ch);
		else if (ch < ' ' || ch == 0x7f)
			appendStringInfoChar(out, ' ');
		else
			appendStringInfoChar(out, ch);
	}
}

/* Append the attributes that show a state's status. */
static void
append_status(SfDot *d, int number, const char *separator, bool quoted)
{
	const SfGraphStatusInfo *info;

	if (d->status_by_state == NULL)
		return;
	info = &sf_graph_statuses[d->status_by_state[number]];
	appendStringInfo(d->out, "%sstyle=\"%s%s\"%sfillcolor=\"%s\"%scolor=\"%s\"",
					 separator, quoted ? "rounded,filled" : "filled",
					 info->dashed ? ",dashed" : "",
					 separator, info->fill, separator, info->border);
}

static void draw_scope(SfDot *d, const SfScope *scope);

/* Draw a Parallel or Map state. */
static void
draw_fork(SfDot *d, const SfState *state)
{
	int			i;

	indent(d);
	appendStringInfo(d->out, "subgraph cluster_s%d {\n", state->number);
	d->depth++;
	indent(d);
	appendStringInfoString(d->out, "label=\"");
	append_quoted(d->out, state->name);
	appendStringInfo(d->out, " (%s)\"", sf_state_type_name(state->type));
	append_status(d, state->number, "; ", false);
	appendStringInfoString(d->out, ";\n");
	indent(d);
	appendStringInfo(d->out, "s%d [shape=point]; s%d_end [shape=point];\n",
					 state->number, state->number);
	for (i = 0; i < state->nscopes; i++)
	{
		const SfScope *scope = &d->program->scopes[state->scopes[i]];
		int			j;

		indent(d);
		appendStringInfo(d->out, "subgraph cluster_s%db%d {\n", state->number, i);
		d->depth++;
		indent(d);
		appendStringInfo(d->out, "label=\"\"; style=\"dashed\"; color=\"#b0b0b0\"; bgcolor=\"#ffffff\";\n");
		draw_scope(d, scope);
		d->depth--;
		indent(d);
		appendStringInfoString(d->out, "}\n");
		indent(d);
		appendStringInfo(d->out, "s%d -> s%d;\n", state->number, scope->start);
		for (j = scope->first; j <= scope->last; j++)
		{
			const SfState *inner = &d->program->states[j];

			if (inner->scope != scope->number || !sf_graph_is_terminal(inner))
				continue;
			indent(d);
			appendStringInfo(d->out, "s%d%s -> s%d_end;\n", j,
							 inner->nscopes > 0 ? "_end" : "", state->number);
		}
	}
	d->depth--;
	indent(d);
	appendStringInfoString(d->out, "}\n");
}

/* Draw one state. */
static void
draw_state(SfDot *d, const SfState *state)
{
	if (state->nscopes > 0)
	{
		draw_fork(d, state);
		return;
	}
	indent(d);
	appendStringInfo(d->out, "s%d [shape=%s, label=\"", state->number,
					 shapes[state->type]);
	append_quoted(d->out, state->name);
	appendStringInfoString(d->out, "\\n");
	append_quoted(d->out, sf_graph_subtitle(state));
	appendStringInfoChar(d->out, '"');
	append_status(d, state->number, ", ", true);
	appendStringInfoString(d->out, "];\n");
}

/* Draw one transition. */
static void
draw_edge(void *arg, const SfState *from, int to, SfEdgeKind kind,
		  const char *label)
{
	SfDot	   *d = arg;

	indent(d);
	appendStringInfo(d->out, "s%d%s -> s%d", from->number,
					 from->nscopes > 0 ? "_end" : "", to);
	if (label != NULL)
	{
		appendStringInfo(d->out, " [%slabel=\"",
						 kind == SF_EDGE_CATCH ? "style=dashed, " : "");
		append_quoted(d->out, label);
		appendStringInfoString(d->out, "\"]");
	}
	appendStringInfoString(d->out, ";\n");
}

/* Draw the states of a scope and the transitions between them. */
static void
draw_scope(SfDot *d, const SfScope *scope)
{
	int			i;

	check_stack_depth();
	for (i = scope->first; i <= scope->last; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (d->program->states[i].scope == scope->number)
			draw_state(d, &d->program->states[i]);
	}
	for (i = scope->first; i <= scope->last; i++)
	{
		if (d->program->states[i].scope == scope->number)
			sf_graph_visit_edges(&d->program->states[i], draw_edge, d);
	}
}

/* Say what the colours mean. */
static void
draw_legend(SfDot *d)
{
	int			nstatuses = sf_graph_legend_size(d->program, d->status_by_state);
	int			i;

	appendStringInfoString(d->out, "    subgraph cluster_legend {\n        label=\"legend\";\n");
	for (i = 0; i < nstatuses; i++)
		appendStringInfo(d->out, "        legend_%s [shape=box, label=\"%s\", style=\"rounded,filled%s\", fillcolor=\"%s\", color=\"%s\"];\n",
						 sf_graph_statuses[i].name, sf_graph_statuses[i].name,
						 sf_graph_statuses[i].dashed ? ",dashed" : "",
						 sf_graph_statuses[i].fill, sf_graph_statuses[i].border);
	appendStringInfoString(d->out, "    }\n");
}

/* Draw a program for Graphviz. */
void
sf_graph_dot(StringInfo out, const SfProgram *program,
			 const int *status_by_state)
{
	SfDot		d = {out, program, status_by_state, 1};
	const SfScope *scope = &program->scopes[0];
	int			i;

	appendStringInfoString(out, "digraph state_machine {\n"
						   "    node [fontname=\"sans-serif\", style=\"rounded\"];\n"
						   "    edge [fontname=\"sans-serif\", fontsize=10];\n");
	draw_scope(&d, scope);
	appendStringInfo(out, "    start [shape=circle, label=\"\", width=0.2]; start -> s%d;\n"
					 "    stop [shape=doublecircle, label=\"\", width=0.15];\n",
					 scope->start);
	for (i = scope->first; i <= scope->last; i++)
	{
		const SfState *state = &program->states[i];

		if (state->scope == scope->number && sf_graph_is_terminal(state))
			appendStringInfo(out, "    s%d%s -> stop;\n", i,
							 state->nscopes > 0 ? "_end" : "");
	}
	if (status_by_state != NULL)
		draw_legend(&d);
	appendStringInfoString(out, "}\n");
}
