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
#include "miscadmin.h"

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

typedef struct SfMermaid
{
	StringInfo	out;
	const SfProgram *program;
	int			depth;			/* of indentation */
} SfMermaid;

/* Begin a line. */
static void
indent(SfMermaid *m)
{
	appendStringInfoSpaces(m->out, 4 * m->depth);
}

/* Append text to a quoted label; Mermaid's entities have a # for HTML's &. */
static void
append_label(StringInfo out, const char *text)
{
	for (; *text != '\0'; text++)
	{
		unsigned char ch = *text;

		if (IS_HIGHBIT_SET(ch) || isalnum(ch) || strchr(" _-.,:$/=+()", ch))
			appendStringInfoChar(out, ch);
		else if (ch < ' ' || ch == 0x7f)
			appendStringInfoChar(out, ' ');
		else
			appendStringInfo(out, "#%d;", ch);
	}
}

static void draw_scope(SfMermaid *m, const SfScope *scope);

/* Draw a Parallel or Map state: a box around its branches. */
static void
draw_fork(SfMermaid *m, const SfState *state)
{
	int			i;

	indent(m);
	appendStringInfo(m->out, "subgraph s%d[\"", state->number);
	append_label(m->out, state->name);
	appendStringInfo(m->out, " (%s)\"]\n", sf_state_type_name(state->type));
	m->depth++;
	for (i = 0; i < state->nscopes; i++)
	{
		const SfScope *scope = &m->program->scopes[state->scopes[i]];

		if (state->type == SF_STATE_PARALLEL)
		{
			indent(m);
			appendStringInfo(m->out, "subgraph s%db%d[\"branch %d\"]\n",
							 state->number, i, i);
			m->depth++;
			draw_scope(m, scope);
			m->depth--;
			indent(m);
			appendStringInfoString(m->out, "end\n");
		}
		else
			draw_scope(m, scope);
	}
	m->depth--;
	indent(m);
	appendStringInfoString(m->out, "end\n");
}

/* Draw one state. */
static void
draw_state(SfMermaid *m, const SfState *state)
{
	if (state->nscopes > 0)
	{
		draw_fork(m, state);
		return;
	}
	indent(m);
	appendStringInfo(m->out, "s%d%s\"", state->number, shapes[state->type][0]);
	append_label(m->out, state->name);
	appendStringInfoString(m->out, "<br/>");
	append_label(m->out, sf_graph_subtitle(state));
	appendStringInfo(m->out, "\"%s\n", shapes[state->type][1]);
}

/* Draw one transition. */
static void
draw_edge(void *arg, const SfState *from, int to, SfEdgeKind kind,
		  const char *label)
{
	SfMermaid  *m = arg;

	indent(m);
	appendStringInfo(m->out, "s%d %s", from->number,
					 kind == SF_EDGE_CATCH ? "-.->" : "-->");
	if (label != NULL)
	{
		appendStringInfoString(m->out, "|\"");
		append_label(m->out, label);
		appendStringInfoString(m->out, "\"|");
	}
	appendStringInfo(m->out, " s%d\n", to);
}

/* Draw the states of a scope and the transitions between them. */
static void
draw_scope(SfMermaid *m, const SfScope *scope)
{
	int			i;

	check_stack_depth();
	for (i = scope->first; i <= scope->last; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (m->program->states[i].scope == scope->number)
			draw_state(m, &m->program->states[i]);
	}
	for (i = scope->first; i <= scope->last; i++)
	{
		if (m->program->states[i].scope == scope->number)
			sf_graph_visit_edges(&m->program->states[i], draw_edge, m);
	}
}

/* Draw where the machine begins and where it can end. */
static void
draw_ends(SfMermaid *m)
{
	const SfScope *scope = &m->program->scopes[0];
	int			i;

	appendStringInfo(m->out, "    start((\" \")) --> s%d\n", scope->start);
	for (i = scope->first; i <= scope->last; i++)
	{
		const SfState *state = &m->program->states[i];

		if (state->scope == scope->number && sf_graph_is_terminal(state))
			appendStringInfo(m->out, "    s%d --> stop(((\" \")))\n",
							 state->number);
	}
}

/* Colour the states by their status, and say what the colours mean. */
static void
draw_statuses(SfMermaid *m, const int *status_by_state)
{
	int			nstatuses = sf_graph_legend_size(m->program, status_by_state);
	int			status;
	int			i;

	appendStringInfoString(m->out, "    subgraph legend\n");
	for (status = 0; status < nstatuses; status++)
		appendStringInfo(m->out, "        legend_%s[\"%s\"]\n",
						 sf_graph_statuses[status].name,
						 sf_graph_statuses[status].name);
	appendStringInfoString(m->out, "    end\n");
	for (status = 0; status < nstatuses; status++)
	{
		const SfGraphStatusInfo *info = &sf_graph_statuses[status];

		appendStringInfo(m->out, "    classDef %s fill:%s,stroke:%s,color:#000000%s\n",
						 info->name, info->fill, info->border,
						 info->dashed ? ",stroke-dasharray:4 3" : "");
		appendStringInfo(m->out, "    class legend_%s", info->name);
		for (i = 0; i < m->program->nstates; i++)
		{
			if (status_by_state[i] == status)
				appendStringInfo(m->out, ",s%d", i);
		}
		appendStringInfo(m->out, " %s\n", info->name);
	}
}

/* Draw a program as a flowchart. */
void
sf_graph_mermaid(StringInfo out, const SfProgram *program,
				 const int *status_by_state)
{
	SfMermaid	m = {out, program, 1};

	appendStringInfoString(out, "flowchart TD\n");
	draw_scope(&m, &program->scopes[0]);
	draw_ends(&m);
	if (status_by_state != NULL)
		draw_statuses(&m, status_by_state);
}
