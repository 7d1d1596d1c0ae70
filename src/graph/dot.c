/*
 * dot.c
 *		A program in the language of Graphviz.
 *
 * A Parallel, Map or JobNet state is a cluster with two points in it: s<number>,
 * where its branches or jobs start, and s<number>_end, where they join.  Transitions
 * to the state lead to the first point, transitions from it start at the second.  So
 * is a job that is a flow of states.
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
	[SF_STATE_JOBNET] = "box",
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
					 info->dashed || d->facts[number].aborted ? ",dashed" : "",
					 separator, info->fill, separator, info->border);
}

/* Begin the cluster of a branch or of a job; its label follows, then end_label. */
static void
begin_branch(SfDrawing *d, const SfState *state, int branch)
{
	SF_GRAPH_LINE(d, "subgraph cluster_s%db%d {\n", state->number, branch);
	d->depth++;
	SF_GRAPH_LINE(d, "label=\"");
}

/* End the label of the cluster of a branch or of a job. */
static void
end_label(SfDrawing *d)
{
	appendStringInfoString(d->out, "\"; style=\"dashed\"; color=\"#b0b0b0\"; bgcolor=\"#ffffff\";\n");
}

/* Draw what is in the cluster of a branch or of a job, from the point fork to its end. */
static void
finish_branch(SfDrawing *d, const SfScope *scope, const char *fork)
{
	sf_graph_draw_scope(d, scope);
	d->depth--;
	SF_GRAPH_LINE(d, "}\n");
	SF_GRAPH_LINE(d, "%s -> s%d;\n", fork, scope->start);
	for (int i = scope->first; i <= scope->last; i++)
	{
		const SfState *inner = &d->program->states[i];

		if (sf_graph_ends(scope, inner))
			SF_GRAPH_LINE(d, "s%d%s -> %s_end;\n", i, end_point(inner), fork);
	}
}

/* Append attributes of an arrow, which may have a label. */
static void
finish_arrow(SfDrawing *d, SfEdgeKind kind, const char *label)
{
	if (label != NULL)
	{
		appendStringInfo(d->out, " [%slabel=\"",
						 kind == SF_EDGE_CATCH ? "style=dashed, " : "");
		append_quoted(d->out, label);
		appendStringInfoString(d->out, "\"]");
	}
	appendStringInfoString(d->out, ";\n");
}

/* Append the condition under which a job runs to its label. */
static void
append_condition(SfDrawing *d, const char *condition)
{
	if (condition == NULL)
		return;
	appendStringInfoString(d->out, "\\n");
	append_quoted(d->out, condition);
}

/* Name the point where a job starts, or where it ends. */
static const char *
job_point(const SfDrawing *d, const SfState *net, int job, bool end)
{
	const SfState *state = sf_graph_net_job_state(d->program, &sf_state_net(net)->jobs[job]);

	if (state != NULL)
		return psprintf("s%d%s", state->number, end ? end_point(state) : "");
	return psprintf("s%db%d%s", net->number, job, end ? "_end" : "");
}

/* Draw that a job waits for another one. */
static void
draw_link(void *arg, const SfState *net, int from, int to, SfEdgeKind kind, const char *label)
{
	SfDrawing  *d = arg;

	SF_GRAPH_LINE(d, "%s -> %s", job_point(d, net, from, true), job_point(d, net, to, false));
	finish_arrow(d, kind, label);
}

/* Draw a job that is a flow of states. */
static void
draw_flow(SfDrawing *d, const SfState *net, int index)
{
	const SfNetJob *job = &sf_state_net(net)->jobs[index];
	const char *fork = job_point(d, net, index, false);

	begin_branch(d, net, index);
	append_quoted(d->out, job->name);
	append_condition(d, sf_graph_condition(job));
	end_label(d);
	SF_GRAPH_LINE(d, "%s [shape=point]; %s_end [shape=point];\n", fork, fork);
	finish_branch(d, &d->program->scopes[job->scope], fork);
}

/* Draw the jobs of a net: which begin with it, which wait for which, which end it. */
static void
draw_jobs(SfDrawing *d, const SfState *net)
{
	const SfNetJob *jobs = sf_state_net(net)->jobs;

	for (int i = 0; i < net->nscopes; i++)
	{
		if (sf_graph_net_job_state(d->program, &jobs[i]) == NULL)
			draw_flow(d, net, i);
		else
			sf_graph_draw_scope(d, &d->program->scopes[jobs[i].scope]);
	}
	sf_graph_visit_links(net, draw_link, d);
	for (int i = 0; i < net->nscopes; i++)
	{
		if (jobs[i].nafter == 0)
			SF_GRAPH_LINE(d, "s%d -> %s;\n", net->number, job_point(d, net, i, false));
		if (jobs[i].nfollowers == 0)
			SF_GRAPH_LINE(d, "%s -> s%d_end;\n", job_point(d, net, i, true), net->number);
	}
}

/* Draw a Parallel, Map or JobNet state. */
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
	if (state->type == SF_STATE_JOBNET)
		draw_jobs(d, state);
	for (int i = 0; i < state->nscopes && state->type != SF_STATE_JOBNET; i++)
	{
		begin_branch(d, state, i);
		end_label(d);
		finish_branch(d, &d->program->scopes[state->scopes[i]],
					  psprintf("s%d", state->number));
	}
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
	append_condition(d, sf_graph_state_condition(d->program, state));
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
	finish_arrow(d, kind, label);
}

/* Say what the colours mean. */
static void
draw_legend(SfDrawing *d)
{
	int			nstatuses = sf_graph_legend_size(d->program, d->facts);

	appendStringInfoString(d->out, "    subgraph cluster_legend {\n        label=\"legend\";\n");
	for (int i = 0; i < nstatuses; i++)
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
