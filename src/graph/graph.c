/*
 * graph.c
 *		What the formats have in common: transitions, labels, colours.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "graph/graph.h"
#include "json/json.h"

/* Characters of a transition's label; the rest is left out */
#define SF_GRAPH_LABEL_MAX 60

#define SF_GRAPH_STATUS_ROW(sym, name, fill, border, dark_fill, dark_border, dashed) \
	{name, fill, border, dark_fill, dark_border, dashed},
const SfGraphStatusInfo sf_graph_statuses[] = {
	SF_GRAPH_STATUS_LIST(SF_GRAPH_STATUS_ROW)
};

/*
 * Count the statuses, from the first, that the legend of a picture has:
 * "unknown", the last one, only where a state has it.
 */
int
sf_graph_legend_size(const SfProgram *program, const SfGraphFacts *facts)
{
	for (int i = 0; i < program->nstates; i++)
		if (facts[i].status == SF_GRAPH_UNKNOWN)
			return SF_GRAPH_UNKNOWN + 1;
	return SF_GRAPH_UNKNOWN;
}

/* Tell whether a state is one of a scope's, and the scope can end in it. */
bool
sf_graph_ends(const SfScope *scope, const SfState *state)
{
	return state->scope == scope->number &&
		(state->end || state->type == SF_STATE_SUCCEED || state->type == SF_STATE_FAIL);
}

/*
 * Append text with special characters escaped, by a format that takes one; control
 * characters become blanks.
 */
void
sf_graph_append(StringInfo out, const char *text, const char *special, const char *escape)
{
	for (; *text != '\0'; text++)
	{
		unsigned char ch = *text;

		/* U+FFFE and U+FFFF, which XML has no way to write */
		if (ch == 0xef && GetDatabaseEncoding() == PG_UTF8 &&
			(unsigned char) text[1] == 0xbf && (unsigned char) text[2] >= 0xbe)
		{
			appendStringInfoChar(out, ' ');
			text += 2;
		}
		else if (strchr(special, ch) != NULL)
			appendStringInfo(out, escape, ch);
		else
			appendStringInfoChar(out, ch < ' ' || ch == 0x7f ? ' ' : ch);
	}
}

/*
 * Choose the second line of a state's label: the resource of a task, or the
 * type.
 */
const char *
sf_graph_subtitle(const SfState *state)
{
	if (state->type == SF_STATE_TASK)
		return sf_state_task(state)->resource.text;
	return sf_state_type_name(state->type);
}

/* The sign of a comparison: fourth column of the list */
#define SIGN_EQ "="
#define SIGN_LT "<"
#define SIGN_GT ">"
#define SIGN_LE "<="
#define SIGN_GE ">="
#define SIGN_MATCHES "matches"
#define SIGN_IS NULL
#define SF_COMPARISON_SIGN(sym, name, type, cmp, has_path) \
	[SF_CMP_##sym] = {name, SIGN_##cmp},
static const struct
{
	const char *name;
	const char *sign;
}			comparison_signs[] = {
	SF_COMPARISON_LIST(SF_COMPARISON_SIGN)
};

static void append_rule(StringInfo buf, const SfChoiceRule *rule, bool nested);

/* Describe a comparison. */
static void
append_comparison(StringInfo buf, const SfRuleComparison *rule)
{
	appendStringInfo(buf, "%s %s ", sf_expr_text(rule->variable),
					 comparison_signs[rule->comparison].sign
					 ? comparison_signs[rule->comparison].sign
					 : comparison_signs[rule->comparison].name);
	if (rule->operand_path)
		appendStringInfoString(buf, sf_expr_text(rule->operand_path));
	else
		sf_json_append_text(buf, &rule->operand);
}

/* Describe what the rules of a group test. */
static void
append_group(StringInfo buf, const SfRuleGroup *group, const char *word, bool nested)
{
	bool		in_brackets = nested && group->nchildren > 1;

	if (in_brackets)
		appendStringInfoChar(buf, '(');
	for (int i = 0; i < group->nchildren; i++)
	{
		if (i > 0)
			appendStringInfoString(buf, word);
		append_rule(buf, &group->children[i], true);
	}
	if (in_brackets)
		appendStringInfoChar(buf, ')');
}

/* Describe what a rule tests. */
static void
append_rule(StringInfo buf, const SfChoiceRule *rule, bool nested)
{
	check_stack_depth();
	if (buf->len > SF_GRAPH_LABEL_MAX * MAX_MULTIBYTE_CHAR_LEN)
		return;					/* will be cut off anyway */
	switch (rule->kind)
	{
		case SF_CHOICE_CONDITION:
			/* a literal true or false has no expression */
			appendStringInfoString(buf, sf_rule_condition(rule)->text ?
								   sf_rule_condition(rule)->text : "Condition");
			break;
		case SF_CHOICE_COMPARE:
			append_comparison(buf, sf_rule_comparison(rule));
			break;
		case SF_CHOICE_AND:
			append_group(buf, sf_rule_group(rule), " and ", nested);
			break;
		case SF_CHOICE_OR:
			append_group(buf, sf_rule_group(rule), " or ", nested);
			break;
		case SF_CHOICE_NOT:
			appendStringInfoString(buf, "not ");
			append_rule(buf, &sf_rule_group(rule)->children[0], true);
			break;
	}
}

/* Cut a label that is too long to read. */
static const char *
shorten_label(StringInfo label)
{
	int			kept = pg_mbcharcliplen(label->data, label->len,
										SF_GRAPH_LABEL_MAX);

	if (kept < label->len)
	{
		label->len = kept;
		label->data[kept] = '\0';
		appendStringInfoString(label, "...");
	}
	return label->data;
}

/* The state that a job of a net is; NULL: the job is a flow of states. */
const SfState *
sf_graph_net_job_state(const SfProgram *program, const SfNetJob *job)
{
	const SfState *state = &program->states[program->scopes[job->scope].start];

	/* names are unique in a machine: those of a flow's states are others */
	return strcmp(state->name, job->name) == 0 ? state : NULL;
}

/* Describe under which condition a job runs; NULL: it has none. */
const char *
sf_graph_condition(const SfNetJob *job)
{
	StringInfoData label;

	if (job->condition == NULL)
		return NULL;
	initStringInfo(&label);
	appendStringInfoString(&label, "if ");
	append_rule(&label, job->condition, false);
	return shorten_label(&label);
}

/* Describe under which condition the job runs that a state is; NULL: under none. */
const char *
sf_graph_state_condition(const SfProgram *program, const SfState *state)
{
	const SfScope *scope = &program->scopes[state->scope];
	const SfNetJob *job;

	if (scope->owner_state == SF_NO_STATE || program->states[scope->owner_state].type != SF_STATE_JOBNET)
		return NULL;
	job = &sf_state_net(&program->states[scope->owner_state])->jobs[scope->branch_index];
	return sf_graph_net_job_state(program, job) == state ? sf_graph_condition(job) : NULL;
}

/* Describe the ends of a job that another one accepts; NULL: success, as by default. */
static const char *
link_label(int on)
{
	StringInfoData label;

	if (on == SF_NET_JOB_END_SUCCESS)
		return NULL;
	if (on == SF_NET_JOB_END_ANY)
		return "end";
	initStringInfo(&label);
	for (int end = SF_NET_JOB_END_SUCCESS; end <= SF_NET_JOB_END_SKIP; end <<= 1)
		if (on & end)
			appendStringInfo(&label, "%s%s", label.len > 0 ? ", " : "",
							 end == SF_NET_JOB_END_SUCCESS ? "success" :
							 end == SF_NET_JOB_END_FAILURE ? "failure" : "skip");
	return label.data;
}

/* Call back for each job of a net that another one waits for. */
void
sf_graph_visit_links(const SfState *net, SfLinkCallback callback, void *arg)
{
	const SfJobNetState *jobs = sf_state_net(net);

	for (int i = 0; i < jobs->njobs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < jobs->jobs[i].nafter; j++)
		{
			int			on = jobs->jobs[i].after[j].on;
			bool		by_failure = (on & SF_NET_JOB_END_FAILURE) != 0 &&
				(on & SF_NET_JOB_END_SUCCESS) == 0;

			callback(arg, net, jobs->jobs[i].after[j].job, i,
					 by_failure ? SF_EDGE_CATCH : SF_EDGE_NEXT, link_label(on));
		}
	}
}

/* Describe the errors that a catcher takes. */
static const char *
catcher_label(const SfCatcher *catcher)
{
	StringInfoData label;

	initStringInfo(&label);
	for (int i = 0; i < catcher->nerrors; i++)
		appendStringInfo(&label, "%s%s", i > 0 ? ", " : "", catcher->errors[i]);
	return shorten_label(&label);
}

/* Call back for each transition of a Choice state that leads somewhere. */
static void
visit_choices(const SfState *state, SfEdgeCallback callback, void *arg)
{
	const SfChoiceState *choice = sf_state_choice(state);

	for (int i = 0; i < choice->nrules; i++)
	{
		StringInfoData label;

		initStringInfo(&label);
		append_rule(&label, &choice->rules[i], false);
		if (choice->rules[i].next != SF_NO_STATE)
			callback(arg, state, choice->rules[i].next, SF_EDGE_RULE,
					 shorten_label(&label));
	}
	if (choice->default_next != SF_NO_STATE)
		callback(arg, state, choice->default_next, SF_EDGE_RULE, "default");
}

/* Call back for each transition of a state that leads somewhere. */
void
sf_graph_visit_edges(const SfState *state, SfEdgeCallback callback, void *arg)
{
	if (state->next != SF_NO_STATE)
		callback(arg, state, state->next, SF_EDGE_NEXT, NULL);
	if (state->type == SF_STATE_CHOICE)
		visit_choices(state, callback, arg);
	for (int i = 0; i < state->ncatchers; i++)
	{
		if (state->catchers[i].next != SF_NO_STATE)
			callback(arg, state, state->catchers[i].next, SF_EDGE_CATCH,
					 catcher_label(&state->catchers[i]));
	}
}

/* Draw the states of a scope and the transitions between them. */
void
sf_graph_draw_scope(SfDrawing *drawing, const SfScope *scope)
{
	check_stack_depth();
	for (int i = scope->first; i <= scope->last; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (drawing->program->states[i].scope == scope->number)
			drawing->draw_state(drawing, &drawing->program->states[i]);
	}
	for (int i = scope->first; i <= scope->last; i++)
	{
		if (drawing->program->states[i].scope == scope->number)
			sf_graph_visit_edges(&drawing->program->states[i], drawing->draw_edge, drawing);
	}
}
