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
append_status(SfDrawing *drawing, int number, const char *separator, bool quoted)
{
	const SfGraphStatusInfo *info;

	if (drawing->facts == NULL)
		return;
	info = &sf_graph_statuses[drawing->facts[number].status];
	appendStringInfo(drawing->out, "%sstyle=\"%s%s\"%sfillcolor=\"%s\"%scolor=\"%s\"",
					 separator, quoted ? "rounded,filled" : "filled",
					 info->dashed || drawing->facts[number].aborted ? ",dashed" : "",
					 separator, info->fill, separator, info->border);
}

/* Begin the cluster of a branch or of a job; its label follows, then end_label. */
static void
begin_branch(SfDrawing *drawing, const SfState *state, int branch)
{
	SF_GRAPH_LINE(drawing, "subgraph cluster_s%db%d {\n", state->number, branch);
	drawing->depth++;
	SF_GRAPH_LINE(drawing, "label=\"");
}

/* End the label of the cluster of a branch or of a job. */
static void
end_label(SfDrawing *drawing)
{
	appendStringInfoString(drawing->out, "\"; style=\"dashed\"; color=\"#b0b0b0\"; bgcolor=\"#ffffff\";\n");
}

/* Draw what is in the cluster of a branch or of a job, from the point fork to its end. */
static void
draw_branch(SfDrawing *drawing, const SfScope *scope, const char *fork)
{
	sf_graph_draw_scope(drawing, scope);
	drawing->depth--;
	SF_GRAPH_LINE(drawing, "}\n");
	SF_GRAPH_LINE(drawing, "%s -> s%d;\n", fork, scope->start);
	for (int i = scope->first; i <= scope->last; i++)
	{
		const SfState *inner = &drawing->program->states[i];

		if (sf_graph_ends(scope, inner))
			SF_GRAPH_LINE(drawing, "s%d%s -> %s_end;\n", i, end_point(inner), fork);
	}
}

/* Append attributes of an arrow, which may have a label. */
static void
append_attributes(SfDrawing *drawing, SfEdgeKind kind, const char *label)
{
	if (label != NULL)
	{
		appendStringInfo(drawing->out, " [%slabel=\"",
						 kind == SF_EDGE_CATCH ? "style=dashed, " : "");
		append_quoted(drawing->out, label);
		appendStringInfoString(drawing->out, "\"]");
	}
	appendStringInfoString(drawing->out, ";\n");
}

/* Append the condition under which a job runs to its label. */
static void
append_condition(SfDrawing *drawing, const char *condition)
{
	if (condition == NULL)
		return;
	appendStringInfoString(drawing->out, "\\n");
	append_quoted(drawing->out, condition);
}

/* Name the point where a job starts, or where it ends. */
static const char *
job_point(const SfDrawing *drawing, const SfState *net, int job, bool end)
{
	const SfState *state = sf_graph_net_job_state(drawing->program, &sf_state_net(net)->jobs[job]);

	if (state != NULL)
		return psprintf("s%d%s", state->number, end ? end_point(state) : "");
	return psprintf("s%db%d%s", net->number, job, end ? "_end" : "");
}

/* Draw that a job waits for another one. */
static void
draw_link(void *arg, const SfState *net, int from, int to, SfEdgeKind kind, const char *label)
{
	SfDrawing  *drawing = arg;

	SF_GRAPH_LINE(drawing, "%s -> %s", job_point(drawing, net, from, true), job_point(drawing, net, to, false));
	append_attributes(drawing, kind, label);
}

/* Draw a job that is a flow of states. */
static void
draw_flow(SfDrawing *drawing, const SfState *net, int index)
{
	const SfNetJob *job = &sf_state_net(net)->jobs[index];
	const char *fork = job_point(drawing, net, index, false);

	begin_branch(drawing, net, index);
	append_quoted(drawing->out, job->name);
	append_condition(drawing, sf_graph_condition(job));
	end_label(drawing);
	SF_GRAPH_LINE(drawing, "%s [shape=point]; %s_end [shape=point];\n", fork, fork);
	draw_branch(drawing, &drawing->program->scopes[job->scope], fork);
}

/* Draw the jobs of a net: which begin with it, which wait for which, which end it. */
static void
draw_jobs(SfDrawing *drawing, const SfState *net)
{
	const SfNetJob *jobs = sf_state_net(net)->jobs;

	for (int i = 0; i < net->nscopes; i++)
	{
		if (sf_graph_net_job_state(drawing->program, &jobs[i]) == NULL)
			draw_flow(drawing, net, i);
		else
			sf_graph_draw_scope(drawing, &drawing->program->scopes[jobs[i].scope]);
	}
	sf_graph_visit_links(net, draw_link, drawing);
	for (int i = 0; i < net->nscopes; i++)
	{
		if (jobs[i].nafter == 0)
			SF_GRAPH_LINE(drawing, "s%d -> %s;\n", net->number, job_point(drawing, net, i, false));
		if (jobs[i].nfollowers == 0)
			SF_GRAPH_LINE(drawing, "%s -> s%d_end;\n", job_point(drawing, net, i, true), net->number);
	}
}

/* Draw a Parallel, Map or JobNet state. */
static void
draw_fork(SfDrawing *drawing, const SfState *state)
{
	SF_GRAPH_LINE(drawing, "subgraph cluster_s%d {\n", state->number);
	drawing->depth++;
	SF_GRAPH_LINE(drawing, "label=\"");
	append_quoted(drawing->out, state->name);
	appendStringInfo(drawing->out, " (%s)\"", sf_state_type_name(state->type));
	append_status(drawing, state->number, "; ", false);
	appendStringInfoString(drawing->out, ";\n");
	SF_GRAPH_LINE(drawing, "s%d [shape=point]; s%d_end [shape=point];\n",
				  state->number, state->number);
	if (state->type == SF_STATE_JOBNET)
		draw_jobs(drawing, state);
	for (int i = 0; i < state->nscopes && state->type != SF_STATE_JOBNET; i++)
	{
		begin_branch(drawing, state, i);
		end_label(drawing);
		draw_branch(drawing, &drawing->program->scopes[state->scopes[i]],
					psprintf("s%d", state->number));
	}
	drawing->depth--;
	SF_GRAPH_LINE(drawing, "}\n");
}

/* Draw one state. */
static void
draw_state(SfDrawing *drawing, const SfState *state)
{
	if (state->nscopes > 0)
	{
		draw_fork(drawing, state);
		return;
	}
	SF_GRAPH_LINE(drawing, "s%d [shape=%s, label=\"", state->number, shapes[state->type]);
	append_quoted(drawing->out, state->name);
	appendStringInfoString(drawing->out, "\\n");
	append_quoted(drawing->out, sf_graph_subtitle(state));
	append_condition(drawing, sf_graph_state_condition(drawing->program, state));
	appendStringInfoChar(drawing->out, '"');
	append_status(drawing, state->number, ", ", true);
	appendStringInfoString(drawing->out, "];\n");
}

/* Draw one transition. */
static void
draw_edge(void *arg, const SfState *from, int to, SfEdgeKind kind,
		  const char *label)
{
	SfDrawing  *drawing = arg;

	SF_GRAPH_LINE(drawing, "s%d%s -> s%d", from->number, end_point(from), to);
	append_attributes(drawing, kind, label);
}

/* Say what the colours mean. */
static void
draw_legend(SfDrawing *drawing)
{
	int			nstatuses = sf_graph_legend_size(drawing->program, drawing->facts);

	appendStringInfoString(drawing->out, "    subgraph cluster_legend {\n        label=\"legend\";\n");
	for (int i = 0; i < nstatuses; i++)
		appendStringInfo(drawing->out,
						 "        legend_%s [shape=box, label=\"%s\", style=\"rounded,filled%s\", fillcolor=\"%s\", color=\"%s\"];\n",
						 sf_graph_statuses[i].name, sf_graph_statuses[i].name,
						 sf_graph_statuses[i].dashed ? ",dashed" : "",
						 sf_graph_statuses[i].fill, sf_graph_statuses[i].border);
	appendStringInfoString(drawing->out, "    }\n");
}

/* Draw a program for Graphviz. */
void
sf_graph_dot(SfDrawing *drawing)
{
	const SfScope *scope = &drawing->program->scopes[0];

	drawing->draw_state = draw_state;
	drawing->draw_edge = draw_edge;
	appendStringInfoString(drawing->out, "digraph state_machine {\n"
						   "    node [fontname=\"sans-serif\", style=\"rounded\"];\n"
						   "    edge [fontname=\"sans-serif\", fontsize=10];\n");
	sf_graph_draw_scope(drawing, scope);
	appendStringInfo(drawing->out, "    start [shape=circle, label=\"\", width=0.2]; start -> s%d;\n"
					 "    stop [shape=doublecircle, label=\"\", width=0.15];\n",
					 scope->start);
	for (int i = scope->first; i <= scope->last; i++)
	{
		const SfState *state = &drawing->program->states[i];

		if (sf_graph_ends(scope, state))
			SF_GRAPH_LINE(drawing, "s%d%s -> stop;\n", i, end_point(state));
	}
	if (drawing->facts != NULL)
		draw_legend(drawing);
	appendStringInfoString(drawing->out, "}\n");
}
