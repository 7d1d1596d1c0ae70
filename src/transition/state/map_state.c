/*
 * map_state.c
 *		Map: one iteration an item, so many at a time.
 *
 * The items are worked out once, when the state is entered.  They are kept in the
 * branch's join_input until all iterations have begun.  The branch of an iteration keeps
 * its own item if one of its states looks at it ($$.Map.Item).
 */
#include "postgres.h"

#include "transition/state/map_state.h"

/* MaxConcurrency and its like, negative ones too; 0 where there is none. */
bool
sf_map_integer(SfStep *step, const SfValueField *field, const char *name,
			   int64 *count, SfError *error)
{
	return sf_flow_integer(step, field, name, PG_INT64_MIN, count, error);
}

/* A percentage that a value gives: a number, or of a path a string that is one. */
static bool
percentage_from_value(Jsonb *value, bool of_path, double *percentage)
{
	JsonbValue	root;
	char	   *end;
	char	   *text;

	sf_json_root(value, &root);
	if (root.type != jbvNumeric && !(of_path && root.type == jbvString))
		return false;
	text = sf_flow_shown(value);
	/* strtod takes blanks and a plus sign before a number, too, hexadecimal digits, and words such as "inf" */
	for (const char *c = text; *c != '\0'; c++)
		if (strchr(c == text ? "-0123456789" : "0123456789.eE+-", *c) == NULL)
			return false;
	*percentage = strtod(text, &end);
	return end != text && *end == '\0';
}

/* ToleratedFailurePercentage as the state has it; 0 where there is none. */
static bool
percentage_field(SfStep *step, double *percentage, SfError *error)
{
	static const char name[] = "ToleratedFailurePercentage";
	const SfValueField *field = &sf_state_map(step->state)->tolerated_failure_percentage;
	bool		is_path = field->kind == SF_FIELD_PATH;
	Jsonb	   *value;

	*percentage = field->kind == SF_FIELD_LITERAL ? sf_field_number(field) : 0;
	if (!is_path && field->kind != SF_FIELD_JSONATA)
		return true;
	if (sf_flow_value(step, field, name, &value, error) != SF_EVAL_OK)
		return false;
	if (percentage_from_value(value, is_path, percentage))
		return true;
	if (!is_path)
		return sf_flow_refuse_type(field->text, name, "number", value, error);
	return sf_error_set(error, SF_ERR_RUNTIME,
						"The %sPath field refers to value \"%s\" which is not a valid float: %s",
						name, sf_flow_shown(value), field->text);
}

/* ToleratedFailurePercentage; 0 where there is none. */
bool
sf_map_percentage(SfStep *step, double *percentage, SfError *error)
{
	if (!percentage_field(step, percentage, error))
		return false;
	if (*percentage < 0 || *percentage > 100)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"ToleratedFailurePercentage must be between 0 and 100.");
	return true;
}

/* The array that a JSONata Map iterates over. */
static bool
jsonata_items(SfStep *step, Jsonb **items, SfError *error)
{
	const SfMapState *map = sf_state_map(step->state);
	JsonbValue	root;

	*items = step->env.input;
	if (map->items != NULL &&
		!sf_template_eval(map->items, &step->env, "Items", items, error))
		return false;
	sf_json_root(*items, &root);
	if (sf_json_is_array(&root))
		return true;
	if (map->items != NULL && map->items_text != NULL)
		return sf_flow_refuse_type(map->items_text, "Items", "array", *items, error);
	return sf_error_set(error, SF_ERR_QUERY_EVALUATION_ERROR,
						"Map state input must be an array but was: %s",
						sf_json_excerpt(*items));
}

/* ItemsPath as the service shows it: "$$." has lost a dollar there. */
static const char *
items_path_text(const SfState *state)
{
	const SfPathField *path = &sf_state_map(state)->items_path;

	if (path->kind != SF_FIELD_PATH)
		return "$";
	return path->text + (strncmp(path->text, "$$", 2) == 0);
}

/* The array that a Map without ItemReader iterates over. */
bool
sf_map_items(SfStep *step, Jsonb **items, SfError *error)
{
	const SfState *state = step->state;
	JsonbValue	root;

	if (state->language == SF_QL_JSONATA)
		return jsonata_items(step, items, error);
	if (!sf_flow_path(step, &sf_state_map(state)->items_path, items, error))
		return false;
	sf_json_root(*items, &root);
	if (sf_json_is_array(&root))
	{
		sf_step_show(step, SF_INSPECTION_AFTER_ITEMS_PATH, *items);
		return true;
	}
	return sf_error_set(error, SF_ERR_RUNTIME,
						"Reference path \"%s\" must point to array.",
						items_path_text(state));
}

/* The input of one iteration: the item, or what ItemSelector makes of it. */
bool
sf_map_iteration_input(SfStep *step, Jsonb *item, int index, Jsonb **input,
					   SfError *error)
{
	bool		ok;

	*input = item;
	if (sf_state_map(step->state)->item_selector == NULL)
		return true;
	step->map_item = item;
	step->map_index = index;
	step->env.context = NULL;	/* built anew for each item */
	step->env.make_context = sf_context_make;
	ok = sf_template_eval(sf_state_map(step->state)->item_selector, &step->env,
						  "ItemSelector", input, error) &&
		sf_flow_check_input_size(step, *input, error);

	/* the context may hold the input of the execution, for each of thousands of items */
	if (ok && step->env.context != NULL && step->env.context != *input)
		pfree(step->env.context);
	step->env.context = NULL;
	step->map_item = NULL;
	step->map_index = SF_NO_MAP_INDEX;
	return ok;
}

/* Show the inputs that ItemSelector made in the inspection of a test. */
static void
show_selected(SfStep *step)
{
	const SfTransition *transition = step->transition;
	SfJsonBuilder json;

	if (step->loaded->inspection == NULL || sf_state_map(step->state)->item_selector == NULL)
		return;
	sf_json_begin_array(&json);
	for (int i = 0; i < transition->neffects; i++)
		if (transition->effects[i].kind == SF_EFFECT_SPAWN_BRANCH)
			sf_json_add(&json, NULL, sf_branch_input(transition->effects[i].spawn_branch));
	sf_step_show(step, SF_INSPECTION_AFTER_ITEM_SELECTOR, sf_json_end(&json));
}

/* Begin iterations while there is room for them; *running counts those that run. */
static bool
begin_iterations(SfStep *step, Jsonb *items, int *running, SfError *error)
{
	SfBranch   *branch = step->branch;
	JsonbValue	array,
				value;
	int			scope = step->state->scopes[0];
	bool		stores_item = (step->program->scopes[scope].context_use & SF_CONTEXT_ITEM) != 0;
	int			room;

	room = sf_map_window(branch) - *running;
	if (step->loaded->inspection != NULL)
		room = branch->total;	/* a test shows all of them */
	sf_json_root(items, &array);
	while (room-- > 0 && branch->next_index < branch->total)
	{
		int			index = branch->next_index;
		SfBranch   *child;
		Jsonb	   *item,
				   *input;

		if (!sf_json_element(&array, index, &value))
			elog(ERROR, "item %d of a Map is missing", index);
		item = sf_json_make(&value);
		if (!sf_map_iteration_input(step, item, index, &input, error))
			return false;
		child = sf_join_spawn(step, scope, index, input, 0);
		child->item = stores_item ? item : NULL;
		child->niterations = branch->niterations + 1;
		child->iterations = palloc(sizeof(int) * child->niterations);
		if (branch->niterations > 0)
			memcpy(child->iterations, branch->iterations,
				   sizeof(int) * branch->niterations);
		child->iterations[branch->niterations] = index;
		branch->next_index++;
		(*running)++;
	}
	branch->join_input = branch->next_index < branch->total ? items : NULL;
	show_selected(step);
	return true;
}

/* {"length": n} */
Jsonb *
sf_map_length(int length)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "length", length);
	return sf_json_end(&json);
}

/* Show what is tolerated, as far as the state says, in the inspection of a test. */
void
sf_map_show_tolerated(SfStep *step, int64 count, double percentage)
{
	const SfMapState *map = sf_state_map(step->state);

	if (map->tolerated_failure_count.kind != SF_FIELD_ABSENT)
		sf_step_show(step, SF_INSPECTION_TOLERATED_FAILURE_COUNT, sf_json_int(count));
	if (map->tolerated_failure_percentage.kind != SF_FIELD_ABSENT)
		sf_step_show(step, SF_INSPECTION_TOLERATED_FAILURE_PERCENTAGE,
					  sf_json_from_cstring(psprintf("%.15g", percentage)));
}

/* Tolerated failures are checked even where they are not used (INLINE). */
static bool
check_tolerated(SfStep *step, SfError *error)
{
	int64		count;
	double		percentage;

	if (!sf_map_integer(step, &sf_state_map(step->state)->tolerated_failure_count,
						"ToleratedFailureCount", &count, error))
		return false;
	if (count < 0)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"ToleratedFailureCount cannot be negative.");
	if (!sf_map_percentage(step, &percentage, error))
		return false;
	sf_map_show_tolerated(step, count, percentage);
	return true;
}

/* Map: work out the items and begin the first iterations. */
SfStepNext
sf_map_enter(SfStep *step)
{
	SfBranch   *branch = step->branch;
	Jsonb	   *items;
	JsonbValue	array;
	int			neffects;
	int			running = 0;
	SfError		error;

	if (!sf_flow_input(step, &error) || !sf_map_items(step, &items, &error) ||
		!sf_flow_concurrency(step, &sf_state_map(step->state)->max_concurrency, &error))
		return sf_step_fail(step, &error);

	sf_json_root(items, &array);
	branch->total = sf_json_count(&array);
	branch->next_index = 0;
	sf_step_event(step, SF_HISTORY_EVENT_MAP_STATE_STARTED, NULL, sf_map_length(branch->total));

	neffects = step->transition->neffects;
	if (!check_tolerated(step, &error) || !begin_iterations(step, items, &running, &error))
	{
		step->transition->neffects = neffects;	/* no iteration begins */
		return sf_step_fail(step, &error);
	}
	branch->phase = SF_PHASE_JOIN;
	sf_branch_set_children_left(branch, running);
	branch->due_at = running == 0 ? step->now : DT_NOEND;
	step->transition->name = SF_TRANSITION_STARTED;
	return running == 0 ? SF_STEP_GO_ON : SF_STEP_REST;
}

/* Map: some iterations have ended, others may begin. */
SfStepNext
sf_map_continue(SfStep *step)
{
	SfBranch   *branch = step->branch;
	int			started = branch->last_event;
	int			running = sf_branch_children_left(branch);
	int			last_inner_event = sf_stimulus_due(step->stimulus)->last_inner_event;
	SfError		error;

	branch->due_at = DT_NOEND;
	if (branch->join_input == NULL || !sf_join_wants_more(branch))
		return SF_STEP_REST;
	if (!sf_flow_input(step, &error))
		return sf_step_fail(step, &error);

	/* a later iteration follows the inner events of the one before */
	if (last_inner_event != SF_NO_EVENT)
		branch->last_event = last_inner_event;
	if (!begin_iterations(step, branch->join_input, &running, &error))
		sf_join_fail(step, &error);
	sf_branch_set_children_left(branch, running);
	branch->last_event = started;
	step->transition->name = SF_TRANSITION_CONTINUED;
	return SF_STEP_REST;
}
