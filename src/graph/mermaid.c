/*
 * mermaid.c
 *		A program as a Mermaid flowchart.
 *
 * States are nodes s<number>; a Parallel, Map or JobNet state is a subgraph of the
 * same name, with a subgraph for each branch, and each job that is a flow of states.
 * Names come from users and go into quoted labels only, every special character as
 * an entity.
 */
#include "postgres.h"

#include "graph/graph.h"

/* What encloses the label of a state type: opening, closing */
static const char *const shapes[][2] = {
	[SF_STATE_PASS] = {"[", "]"},
	[SF_STATE_TASK] = {"[", "]"},
	[SF_STATE_CHOICE] = {"{", "}"},
	[SF_STATE_WAIT] = {"([", "])"},
	[SF_STATE_SUCCEED] = {"([", "])"},
	[SF_STATE_FAIL] = {"{{", "}}"},
	[SF_STATE_PARALLEL] = {"[", "]"},
	[SF_STATE_MAP] = {"[", "]"},
	[SF_STATE_JOBNET] = {"[", "]"},
};

/* Append text to a quoted label; Mermaid's entities have a # for HTML's &. */
static void
append_label(StringInfo out, const char *text)
{
	sf_graph_append(out, text, "!\"#%&'*;<>?@[\\]^`{|}~", "#%d;");
}

/* Begin an arrow; the state that it leads to follows. */
static void
append_arrow(SfDrawing *drawing, SfEdgeKind kind, const char *label)
{
	appendStringInfoString(drawing->out, kind == SF_EDGE_CATCH ? " -.->" : " -->");
	if (label != NULL)
	{
		appendStringInfoString(drawing->out, "|\"");
		append_label(drawing->out, label);
		appendStringInfoString(drawing->out, "\"|");
	}
	appendStringInfoChar(drawing->out, ' ');
}

/* Name the node or the subgraph of a job. */
static const char *
job_node(const SfDrawing *drawing, const SfState *net, int job)
{
	const SfState *state = sf_graph_net_job_state(drawing->program, &sf_state_net(net)->jobs[job]);

	return state != NULL ? psprintf("s%d", state->number) :
		psprintf("s%db%d", net->number, job);
}

/* Draw that a job waits for another one. */
static void
draw_link(void *arg, const SfState *net, int from, int to, SfEdgeKind kind, const char *label)
{
	SfDrawing  *drawing = arg;

	SF_GRAPH_LINE(drawing, "%s", job_node(drawing, net, from));
	append_arrow(drawing, kind, label);
	appendStringInfo(drawing->out, "%s\n", job_node(drawing, net, to));
}

/* Append the condition under which a job runs to its label. */
static void
append_condition(SfDrawing *drawing, const char *condition)
{
	if (condition == NULL)
		return;
	appendStringInfoString(drawing->out, "<br/>");
	append_label(drawing->out, condition);
}

/* Draw the jobs of a net, and which waits for which. */
static void
draw_jobs(SfDrawing *drawing, const SfState *net)
{
	for (int i = 0; i < net->nscopes; i++)
	{
		const SfNetJob *job = &sf_state_net(net)->jobs[i];
		bool		is_flow = sf_graph_net_job_state(drawing->program, job) == NULL;

		if (is_flow)
		{
			SF_GRAPH_LINE(drawing, "subgraph s%db%d[\"", net->number, i);
			append_label(drawing->out, job->name);
			append_condition(drawing, sf_graph_condition(job));
			appendStringInfoString(drawing->out, "\"]\n");
			drawing->depth++;
		}
		sf_graph_draw_scope(drawing, &drawing->program->scopes[job->scope]);
		if (is_flow)
		{
			drawing->depth--;
			SF_GRAPH_LINE(drawing, "end\n");
		}
	}
	sf_graph_visit_links(net, draw_link, drawing);
}

/* Draw a Parallel, Map or JobNet state: a box around what is in it. */
static void
draw_fork(SfDrawing *drawing, const SfState *state)
{
	SF_GRAPH_LINE(drawing, "subgraph s%d[\"", state->number);
	append_label(drawing->out, state->name);
	appendStringInfo(drawing->out, " (%s)\"]\n", sf_state_type_name(state->type));
	drawing->depth++;
	if (state->type == SF_STATE_JOBNET)
		draw_jobs(drawing, state);
	for (int i = 0; i < state->nscopes && state->type != SF_STATE_JOBNET; i++)
	{
		const SfScope *scope = &drawing->program->scopes[state->scopes[i]];

		if (state->type == SF_STATE_PARALLEL)
		{
			SF_GRAPH_LINE(drawing, "subgraph s%db%d[\"branch %d\"]\n", state->number, i, i);
			drawing->depth++;
			sf_graph_draw_scope(drawing, scope);
			drawing->depth--;
			SF_GRAPH_LINE(drawing, "end\n");
		}
		else
			sf_graph_draw_scope(drawing, scope);
	}
	drawing->depth--;
	SF_GRAPH_LINE(drawing, "end\n");
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
	SF_GRAPH_LINE(drawing, "s%d%s\"", state->number, shapes[state->type][0]);
	append_label(drawing->out, state->name);
	appendStringInfoString(drawing->out, "<br/>");
	append_label(drawing->out, sf_graph_subtitle(state));
	append_condition(drawing, sf_graph_state_condition(drawing->program, state));
	appendStringInfo(drawing->out, "\"%s\n", shapes[state->type][1]);
}

/* Draw one transition. */
static void
draw_edge(void *arg, const SfState *from, int to, SfEdgeKind kind,
		  const char *label)
{
	SfDrawing  *drawing = arg;

	SF_GRAPH_LINE(drawing, "s%d", from->number);
	append_arrow(drawing, kind, label);
	appendStringInfo(drawing->out, "s%d\n", to);
}

/* Draw where the machine begins and where it can end. */
static void
draw_ends(SfDrawing *drawing)
{
	const SfScope *scope = &drawing->program->scopes[0];

	SF_GRAPH_LINE(drawing, "start((\" \")) --> s%d\n", scope->start);
	for (int i = scope->first; i <= scope->last; i++)
	{
		if (sf_graph_ends(scope, &drawing->program->states[i]))
			SF_GRAPH_LINE(drawing, "s%d --> stop(((\" \")))\n", i);
	}
}

/* Colour the states by their status, and say what the colours mean. */
static void
draw_statuses(SfDrawing *drawing)
{
	int			nstatuses = sf_graph_legend_size(drawing->program, drawing->facts);

	appendStringInfoString(drawing->out, "    subgraph legend\n");
	for (int status = 0; status < nstatuses; status++)
		appendStringInfo(drawing->out, "        legend_%s[\"%s\"]\n",
						 sf_graph_statuses[status].name,
						 sf_graph_statuses[status].name);
	appendStringInfoString(drawing->out, "    end\n");
	for (int status = 0; status < nstatuses; status++)
	{
		const SfGraphStatusInfo *info = &sf_graph_statuses[status];

		appendStringInfo(drawing->out, "    classDef %s fill:%s,stroke:%s,color:#000000%s\n",
						 info->name, info->fill, info->border,
						 info->dashed ? ",stroke-dasharray:4 3" : "");
		appendStringInfo(drawing->out, "    class legend_%s", info->name);
		for (int i = 0; i < drawing->program->nstates; i++)
		{
			if ((int) drawing->facts[i].status == status)
				appendStringInfo(drawing->out, ",s%d", i);
		}
		appendStringInfo(drawing->out, " %s\n", info->name);
	}
	for (int i = 0; i < drawing->program->nstates; i++)
	{
		if (drawing->facts[i].aborted)
			SF_GRAPH_LINE(drawing, "style s%d stroke-dasharray:4 3\n", i);
	}
}

/* Draw a program as a flowchart. */
void
sf_graph_mermaid(SfDrawing *drawing)
{
	drawing->draw_state = draw_state;
	drawing->draw_edge = draw_edge;
	appendStringInfoString(drawing->out, "flowchart TD\n");
	sf_graph_draw_scope(drawing, &drawing->program->scopes[0]);
	draw_ends(drawing);
	if (drawing->facts != NULL)
		draw_statuses(drawing);
}
