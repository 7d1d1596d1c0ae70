/*
 * mermaid.c
 *		A program as a Mermaid flowchart.
 *
 * States are nodes s<number>; a Parallel or Map state is a subgraph of the
 * same name, with a subgraph for each branch.  Names come from users and go
 * into quoted labels only, every special character as an entity.
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
};

/* Append text to a quoted label; Mermaid's entities have a # for HTML's &. */
static void
append_label(StringInfo out, const char *text)
{
	sf_graph_append(out, text, "!\"#%&'*;<>?@[\\]^`{|}~", "#%d;");
}

/* Draw a Parallel or Map state: a box around its branches. */
static void
draw_fork(SfDrawing *d, const SfState *state)
{
	SF_GRAPH_LINE(d, "subgraph s%d[\"", state->number);
	append_label(d->out, state->name);
	appendStringInfo(d->out, " (%s)\"]\n", sf_state_type_name(state->type));
	d->depth++;
	for (int i = 0; i < state->nscopes; i++)
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
	appendStringInfo(d->out, "\"%s\n", shapes[state->type][1]);
}

/* Draw one transition. */
static void
draw_edge(void *arg, const SfState *from, int to, SfEdgeKind kind,
		  const char *label)
{
	SfDrawing  *d = arg;

	SF_GRAPH_LINE(d, "s%d %s", from->number, kind == SF_EDGE_CATCH ? "-.->" : "-->");
	if (label != NULL)
	{
		appendStringInfoString(d->out, "|\"");
		append_label(d->out, label);
		appendStringInfoString(d->out, "\"|");
	}
	appendStringInfo(d->out, " s%d\n", to);
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
	int			status;
	int			i;

	appendStringInfoString(d->out, "    subgraph legend\n");
	for (status = 0; status < nstatuses; status++)
		appendStringInfo(d->out, "        legend_%s[\"%s\"]\n",
						 sf_graph_statuses[status].name,
						 sf_graph_statuses[status].name);
	appendStringInfoString(d->out, "    end\n");
	for (status = 0; status < nstatuses; status++)
	{
		const SfGraphStatusInfo *info = &sf_graph_statuses[status];

		appendStringInfo(d->out, "    classDef %s fill:%s,stroke:%s,color:#000000%s\n",
						 info->name, info->fill, info->border,
						 info->dashed ? ",stroke-dasharray:4 3" : "");
		appendStringInfo(d->out, "    class legend_%s", info->name);
		for (i = 0; i < d->program->nstates; i++)
		{
			if ((int) d->facts[i].status == status)
				appendStringInfo(d->out, ",s%d", i);
		}
		appendStringInfo(d->out, " %s\n", info->name);
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
