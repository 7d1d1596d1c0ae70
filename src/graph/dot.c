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

/* Append text to a quoted string; backslashes would be escapes in a label. */
static void
append_quoted(StringInfo out, const char *text)
{
	sf_graph_append(out, text, "\"\\", "\\%c");
}

/* What the name of a state's node ends with, where transitions from it start. */
static const char *
end_point(const SfState *state)
{
	return state->nscopes > 0 ? "_end" : "";
}

/* Append the attributes that show a state's status. */
static void
append_status(SfDrawing *d, int number, const char *separator, bool quoted)
{
	const SfGraphStatusInfo *info;

	if (d->facts == NULL)
		return;
	info = &sf_graph_statuses[d->facts[number].status];
	appendStringInfo(d->out, "%sstyle=\"%s%s\"%sfillcolor=\"%s\"%scolor=\"%s\"",
					 separator, quoted ? "rounded,filled" : "filled",
					 info->dashed ? ",dashed" : "",
					 separator, info->fill, separator, info->border);
}

/* Draw one branch of a Parallel or Map state, with where it starts and joins. */
static void
draw_branch(SfDrawing *d, const SfState *state, int branch)
{
	const SfScope *scope = &d->program->scopes[state->scopes[branch]];

	SF_GRAPH_LINE(d, "subgraph cluster_s%db%d {\n", state->number, branch);
	d->depth++;
	SF_GRAPH_LINE(d, "label=\"\"; style=\"dashed\"; color=\"#b0b0b0\"; bgcolor=\"#ffffff\";\n");
	sf_graph_draw_scope(d, scope);
	d->depth--;
	SF_GRAPH_LINE(d, "}\n");
	SF_GRAPH_LINE(d, "s%d -> s%d;\n", state->number, scope->start);
	for (int i = scope->first; i <= scope->last; i++)
	{
		const SfState *inner = &d->program->states[i];

		if (sf_graph_ends(scope, inner))
			SF_GRAPH_LINE(d, "s%d%s -> s%d_end;\n", i, end_point(inner), state->number);
	}
}

/* Draw a Parallel or Map state. */
static void
draw_fork(SfDrawing *d, const SfState *state)
{
	SF_GRAPH_LINE(d, "subgraph cluster_s%d {\n", state->number);
	d->depth++;
	SF_GRAPH_LINE(d, "label=\"");
	append_quoted(d->out, state->name);
	appendStringInfo(d->out, " (%s)\"", sf_state_type_name(state->type));
	append_status(d, state->number, "; ", false);
	appendStringInfoString(d->out, ";\n");
	SF_GRAPH_LINE(d, "s%d [shape=point]; s%d_end [shape=point];\n",
				  state->number, state->number);
	for (int i = 0; i < state->nscopes; i++)
		draw_branch(d, state, i);
	d->depth--;
	SF_GRAPH_LINE(d, "}\n");
}

/* Draw one state. */
static void
draw_state(SfDrawing *d, const SfState *state)
{
	if (state->nscopes > 0)
	{
		draw_fork(d, state);
		return;
	}
	SF_GRAPH_LINE(d, "s%d [shape=%s, label=\"", state->number, shapes[state->type]);
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
	SfDrawing  *d = arg;

	SF_GRAPH_LINE(d, "s%d%s -> s%d", from->number, end_point(from), to);
	if (label != NULL)
	{
		appendStringInfo(d->out, " [%slabel=\"",
						 kind == SF_EDGE_CATCH ? "style=dashed, " : "");
		append_quoted(d->out, label);
		appendStringInfoString(d->out, "\"]");
	}
	appendStringInfoString(d->out, ";\n");
}

/* Say what the colours mean. */
static void
draw_legend(SfDrawing *d)
{
	int			nstatuses = sf_graph_legend_size(d->program, d->facts);
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
sf_graph_dot(SfDrawing *d)
{
	const SfScope *scope = &d->program->scopes[0];

	d->draw_state = draw_state;
	d->draw_edge = draw_edge;
	appendStringInfoString(d->out, "digraph state_machine {\n"
						   "    node [fontname=\"sans-serif\", style=\"rounded\"];\n"
						   "    edge [fontname=\"sans-serif\", fontsize=10];\n");
	sf_graph_draw_scope(d, scope);
	appendStringInfo(d->out, "    start [shape=circle, label=\"\", width=0.2]; start -> s%d;\n"
					 "    stop [shape=doublecircle, label=\"\", width=0.15];\n",
					 scope->start);
	for (int i = scope->first; i <= scope->last; i++)
	{
		const SfState *state = &d->program->states[i];

		if (sf_graph_ends(scope, state))
			SF_GRAPH_LINE(d, "s%d%s -> stop;\n", i, end_point(state));
	}
	if (d->facts != NULL)
		draw_legend(d);
	appendStringInfoString(d->out, "}\n");
}
