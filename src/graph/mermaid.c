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
append_arrow(SfDrawing *d, SfEdgeKind kind, const char *label)
{
	appendStringInfoString(d->out, kind == SF_EDGE_CATCH ? " -.->" : " -->");
	if (label != NULL)
	{
		appendStringInfoString(d->out, "|\"");
		append_label(d->out, label);
		appendStringInfoString(d->out, "\"|");
	}
	appendStringInfoChar(d->out, ' ');
}

/* Name the node or the subgraph of a job. */
static const char *
job_node(const SfDrawing *d, const SfState *net, int job)
{
	const SfState *state = sf_graph_net_job_state(d->program, &sf_state_net(net)->jobs[job]);

	return state != NULL ? psprintf("s%d", state->number) :
		psprintf("s%db%d", net->number, job);
}

/* Draw that a job waits for another one. */
static void
draw_link(void *arg, const SfState *net, int from, int to, SfEdgeKind kind, const char *label)
{
	SfDrawing  *d = arg;

	SF_GRAPH_LINE(d, "%s", job_node(d, net, from));
	append_arrow(d, kind, label);
	appendStringInfo(d->out, "%s\n", job_node(d, net, to));
}

/* Append the condition under which a job runs to its label. */
static void
append_condition(SfDrawing *d, const char *condition)
{
	if (condition == NULL)
		return;
	appendStringInfoString(d->out, "<br/>");
	append_label(d->out, condition);
}

/* Draw the jobs of a net, and which waits for which. */
static void
draw_jobs(SfDrawing *d, const SfState *net)
{
	for (int i = 0; i < net->nscopes; i++)
	{
		const SfNetJob *job = &sf_state_net(net)->jobs[i];
		bool		is_flow = sf_graph_net_job_state(d->program, job) == NULL;

		if (is_flow)
		{
			SF_GRAPH_LINE(d, "subgraph s%db%d[\"", net->number, i);
			append_label(d->out, job->name);
			append_condition(d, sf_graph_condition(job));
			appendStringInfoString(d->out, "\"]\n");
			d->depth++;
		}
		sf_graph_draw_scope(d, &d->program->scopes[job->scope]);
		if (is_flow)
		{
			d->depth--;
			SF_GRAPH_LINE(d, "end\n");
		}
	}
	sf_graph_visit_links(net, draw_link, d);
}

/* Draw a Parallel, Map or JobNet state: a box around what is in it. */
static void
draw_fork(SfDrawing *d, const SfState *state)
{
	SF_GRAPH_LINE(d, "subgraph s%d[\"", state->number);
	append_label(d->out, state->name);
	appendStringInfo(d->out, " (%s)\"]\n", sf_state_type_name(state->type));
	d->depth++;
	if (state->type == SF_STATE_JOBNET)
		draw_jobs(d, state);
	for (int i = 0; i < state->nscopes && state->type != SF_STATE_JOBNET; i++)
	{
		const SfScope *scope = &d->program->scopes[state->scopes[i]];

		if (state->type == SF_STATE_PARALLEL)
		{
			SF_GRAPH_LINE(d, "subgraph s%db%d[\"branch %d\"]\n", state->number, i, i);
			d->depth++;
			sf_graph_draw_scope(d, scope);
			d->depth--;
			SF_GRAPH_LINE(d, "end\n");
		}
		else
			sf_graph_draw_scope(d, scope);
	}
	d->depth--;
	SF_GRAPH_LINE(d, "end\n");
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
	SF_GRAPH_LINE(d, "s%d%s\"", state->number, shapes[state->type][0]);
	append_label(d->out, state->name);
	appendStringInfoString(d->out, "<br/>");
	append_label(d->out, sf_graph_subtitle(state));
	append_condition(d, sf_graph_state_condition(d->program, state));
	appendStringInfo(d->out, "\"%s\n", shapes[state->type][1]);
}

/* Draw one transition. */
static void
draw_edge(void *arg, const SfState *from, int to, SfEdgeKind kind,
		  const char *label)
{
	SfDrawing  *d = arg;

	SF_GRAPH_LINE(d, "s%d", from->number);
	append_arrow(d, kind, label);
	appendStringInfo(d->out, "s%d\n", to);
}

/* Draw where the machine begins and where it can end. */
static void
draw_ends(SfDrawing *d)
{
	const SfScope *scope = &d->program->scopes[0];

	SF_GRAPH_LINE(d, "start((\" \")) --> s%d\n", scope->start);
	for (int i = scope->first; i <= scope->last; i++)
	{
		if (sf_graph_ends(scope, &d->program->states[i]))
			SF_GRAPH_LINE(d, "s%d --> stop(((\" \")))\n", i);
	}
}

/* Colour the states by their status, and say what the colours mean. */
static void
draw_statuses(SfDrawing *d)
{
	int			nstatuses = sf_graph_legend_size(d->program, d->facts);

	appendStringInfoString(d->out, "    subgraph legend\n");
	for (int status = 0; status < nstatuses; status++)
		appendStringInfo(d->out, "        legend_%s[\"%s\"]\n",
						 sf_graph_statuses[status].name,
						 sf_graph_statuses[status].name);
	appendStringInfoString(d->out, "    end\n");
	for (int status = 0; status < nstatuses; status++)
	{
		const SfGraphStatusInfo *info = &sf_graph_statuses[status];

		appendStringInfo(d->out, "    classDef %s fill:%s,stroke:%s,color:#000000%s\n",
						 info->name, info->fill, info->border,
						 info->dashed ? ",stroke-dasharray:4 3" : "");
		appendStringInfo(d->out, "    class legend_%s", info->name);
		for (int i = 0; i < d->program->nstates; i++)
		{
			if ((int) d->facts[i].status == status)
				appendStringInfo(d->out, ",s%d", i);
		}
		appendStringInfo(d->out, " %s\n", info->name);
	}
	for (int i = 0; i < d->program->nstates; i++)
	{
		if (d->facts[i].aborted)
			SF_GRAPH_LINE(d, "style s%d stroke-dasharray:4 3\n", i);
	}
}

/* Draw a program as a flowchart. */
void
sf_graph_mermaid(SfDrawing *d)
{
	d->draw_state = draw_state;
	d->draw_edge = draw_edge;
	appendStringInfoString(d->out, "flowchart TD\n");
	sf_graph_draw_scope(d, &d->program->scopes[0]);
	draw_ends(d);
	if (d->facts != NULL)
		draw_statuses(d);
}
