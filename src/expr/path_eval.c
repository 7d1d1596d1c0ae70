/*
 * path_eval.c
 *		Evaluate a compiled JSONPath over jsonb.
 *
 * A path begins with definite steps, which go from one value to the next without
 * allocating anything.  Steps with several matches may follow.  Their matches are
 * collected depth first, by recursion over the steps, and point into the document
 * until they are copied into an array.  After a function that takes all matches,
 * steps are definite again.
 *
 * The dialect is Jayway's, which the service uses.  A missing value before the
 * first indefinite step is an error in Jayway's; in the service it makes the
 * indefinite path yield [].  After the first indefinite step it is skipped.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "expr/path.h"

/* Bytes that the matches of one path may have in all, as jsonb. */
#define MAX_MATCHED_BYTES	(128 * 1024 * 1024)

/* Matches found so far */
typedef struct Collector
{
	SfPathEnv  *penv;
	JsonbValue *values;
	Size		nvalues;
	Size		allocated;
	Size		bytes;
	bool		failed;			/* a function could not be applied, or the time is up */
	SfError    *error;
} Collector;

static void collect(Collector *collector, const SfPathStep *step, const SfPathStep *end,
					const JsonbValue *node);

/* --- reasons, in the words of the service --- */

/* Append the first steps of a path in normal form: $['a'][0]. */
static void
append_steps(StringInfo buf, const SfPath *path, int nsteps)
{
	appendStringInfoChar(buf, path->root == SF_PATH_ROOT_CURRENT ? '@' : '$');
	if (path->root == SF_PATH_ROOT_VARIABLE)
		appendBinaryStringInfo(buf, path->variable.str, path->variable.len);
	for (int i = 0; i < nsteps; i++)
	{
		const SfPathStep *step = &path->steps[i];

		if (step->kind == SF_PATH_STEP_MEMBER)
			appendStringInfo(buf, "['%s']", step->names[0].str);
		else if (step->kind == SF_PATH_STEP_INDEX)
			appendStringInfo(buf, "[" INT64_FORMAT "]", step->indexes[0]);
		else
			appendStringInfoString(buf, "[...]");
	}
}

/* Name the class that a value has in the service. */
static const char *
class_name(const JsonbValue *value)
{
	int64		integer;

	switch (value->type)
	{
		case jbvNull:
			return "com.fasterxml.jackson.databind.node.NullNode";
		case jbvString:
			return "com.fasterxml.jackson.databind.node.TextNode";
		case jbvNumeric:
			if (!sf_json_to_int64(value, &integer))
				return "com.fasterxml.jackson.databind.node.DoubleNode";
			return integer == (int32) integer ?
				"com.fasterxml.jackson.databind.node.IntNode" :
				"com.fasterxml.jackson.databind.node.LongNode";
		case jbvBool:
			return "com.fasterxml.jackson.databind.node.BooleanNode";
		default:
			return "com.fasterxml.jackson.databind.node.ArrayNode";
	}
}

/* Say why a step leads nowhere; node is NULL behind the end of an array. */
static SfPathStatus
missing(const SfPath *path, const SfPathStep *step, const JsonbValue *node,
		SfError *error)
{
	int			position = step - path->steps;
	StringInfoData buf;

	if (error == NULL)
		return SF_PATH_STATUS_MISSING;
	initStringInfo(&buf);
	if (step->kind == SF_PATH_STEP_MEMBER && node != NULL && sf_json_is_object(node))
	{
		appendStringInfoString(&buf, position == path->nsteps - 1 ?
							   "No results for path: " :
							   "Missing property in path ");
		append_steps(&buf, path, position + 1);
	}
	else if (step->kind == SF_PATH_STEP_MEMBER || step->kind == SF_PATH_STEP_MEMBERS)
	{
		appendStringInfo(&buf, "Expected to find an object with property ['%s'] in path ",
						 step->names[0].str);
		append_steps(&buf, path, position);
		appendStringInfo(&buf, " but found '%s'. This is not a json object according to the JsonProvider: "
						 "'com.jayway.jsonpath.spi.json.JacksonJsonNodeJsonProvider'.",
						 node == NULL ? "null" : class_name(node));
	}
	else if (node == NULL)
	{
		appendStringInfoString(&buf, "The path ");
		append_steps(&buf, path, position);
		appendStringInfoString(&buf, " is null");
	}
	else
	{
		appendStringInfo(&buf, "Filter: [" INT64_FORMAT "] can only be applied to arrays. Current context is: ",
						 step->indexes[0]);
		sf_json_append_text(&buf, node);
	}
	sf_error_set(error, SF_ERR_RUNTIME, "%s", buf.data);
	pfree(buf.data);
	return SF_PATH_STATUS_MISSING;
}

/* Say that a whole path has no results. */
static SfPathStatus
no_results(const SfPath *path, SfPathStatus status, SfError *error)
{
	StringInfoData buf;

	if (error == NULL)
		return status;
	initStringInfo(&buf);
	append_steps(&buf, path, path->nsteps);
	sf_error_set(error, SF_ERR_RUNTIME, "No results for path: %s", buf.data);
	return status;
}

/* --- steps with one match --- */

/* Take an element by an index that may count from the end. */
static bool
element_at(const JsonbValue *array, int64 index, JsonbValue *out)
{
	if (index < 0)
		index += sf_json_count(array);
	return sf_json_element(array, index, out);
}

/* Make one object of some members; false when all is required and is not there. */
static bool
merge_members(const SfPathStep *step, const JsonbValue *node, bool all,
			  JsonbValue *out)
{
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * step->nnames);
	int			n = 0;

	for (int i = 0; i < step->nnames; i++)
	{
		sf_json_value_string(&members[n].key, step->names[i].str, step->names[i].len);
		if (sf_json_member(node, step->names[i].str, step->names[i].len,
						   &members[n].value))
			n++;
		else if (all)
			return false;
	}
	sf_json_root(sf_json_object_of(members, n), out);
	pfree(members);
	return true;
}

/* --- steps with any number of matches --- */

/* Keep a match. */
static void
add_match(Collector *collector, const JsonbValue *value)
{
	if (collector->nvalues == collector->allocated)
	{
		Size		wanted = Max(collector->allocated * 2, 16);

		collector->values = collector->values == NULL ?
			palloc(wanted * sizeof(JsonbValue)) :
			repalloc_huge(collector->values, wanted * sizeof(JsonbValue));
		collector->allocated = wanted;
	}
	collector->values[collector->nvalues++] = *value;
	collector->bytes += sizeof(JEntry);
	if (value->type == jbvBinary)
		collector->bytes += value->val.binary.len;
	else if (value->type == jbvString)
		collector->bytes += value->val.string.len;
	else if (value->type == jbvNumeric)
		collector->bytes += VARSIZE_ANY(value->val.numeric);
	if (collector->bytes > MAX_MATCHED_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EVALUATION_LIMIT),
				 errmsg("path yields more than %d MB", MAX_MATCHED_BYTES / (1024 * 1024)),
				 errdetail("Matches inside other matches count once for each."),
				 errhint("Use a narrower path.")));
}

/* Look for a cancel request, and whether the time is up: then the path fails. */
static bool
is_failed(Collector *collector)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (sf_env_is_late(collector->penv->env, 1))
		collector->failed = true;
	return collector->failed;
}

/* Go on from each child of an array or object. */
static void
collect_children(Collector *collector, const SfPathStep *step, const SfPathStep *end,
				 const JsonbValue *node)
{
	JsonbIterator *it = sf_json_children(node);
	JsonbValue	child;

	while (!collector->failed && sf_json_next(&it, &child))
		collect(collector, step, end, &child);
}

/* Go on from the elements of an array, or the object, that pass a filter. */
static void
collect_filtered(Collector *collector, const SfPathStep *step, const SfPathStep *end,
				 const JsonbValue *node)
{
	JsonbIterator *it = sf_json_elements(node);
	JsonbValue	child;

	if (sf_json_is_object(node) && sf_filter_accepts(step->filter, collector->penv, node))
		collect(collector, step + 1, end, node);
	while (!collector->failed && sf_json_next(&it, &child))
	{
		if (sf_filter_accepts(step->filter, collector->penv, &child))
			collect(collector, step + 1, end, &child);
	}
}

/* Go on from the elements of a slice. */
static void
collect_slice(Collector *collector, const SfPathStep *step, const SfPathStep *end,
			  const JsonbValue *node)
{
	int64		count = sf_json_count(node);
	int64		from = step->has_from ? step->from : 0;
	int64		to = step->has_to ? step->to : count;
	JsonbValue	element;

	if (!sf_json_is_array(node))
		return;
	if (from < 0)
		from = Max(from + count, 0);
	if (to < 0)
		to += count;
	for (to = Min(to, count); from < to && !collector->failed; from++)
	{
		if (sf_json_element(node, from, &element))
			collect(collector, step + 1, end, &element);
	}
}

/* Go on from several members or elements. */
static void
collect_union(Collector *collector, const SfPathStep *step, const SfPathStep *end,
			  const JsonbValue *node)
{
	JsonbValue	value;

	if (step->kind == SF_PATH_STEP_INDEXES)
	{
		for (int i = 0; i < step->nindexes; i++)
		{
			if (element_at(node, step->indexes[i], &value))
				collect(collector, step + 1, end, &value);
		}
	}
	else if (!sf_json_is_object(node))
		return;
	else if (step + 1 == end)
	{
		if (merge_members(step, node, false, &value))
			collect(collector, end, end, &value);
	}
	else
	{
		for (int i = 0; i < step->nnames; i++)
		{
			if (sf_json_member(node, step->names[i].str, step->names[i].len, &value))
				collect(collector, step + 1, end, &value);
		}
	}
}

/*
 * Apply a step to a node and to all that is under it, outermost first.  A
 * filter tests objects here and no arrays: their elements are met below.
 */
static void
collect_descent(Collector *collector, const SfPathStep *step, const SfPathStep *end,
				const JsonbValue *node)
{
	JsonbIterator *it = sf_json_children(node);
	JsonbValue	child;

	if (is_failed(collector) || node->type != jbvBinary)
		return;
	if (step->kind == SF_PATH_STEP_MEMBERS && step + 1 == end)
	{
		if (sf_json_is_object(node) && merge_members(step, node, true, &child))
			collect(collector, end, end, &child);
	}
	else if (step->kind != SF_PATH_STEP_FILTER || sf_json_is_object(node))
		collect(collector, step, end, node);

	while (!collector->failed && sf_json_next(&it, &child))
	{
		if (child.type == jbvBinary)
			collect_descent(collector, step, end, &child);
	}
}

/* Collect what the steps up to end match, from a node on. */
static void
collect(Collector *collector, const SfPathStep *step, const SfPathStep *end,
		const JsonbValue *node)
{
	JsonbValue	current = *node;

	if (is_failed(collector))
		return;
	for (; step < end && !collector->failed; step++)
	{
		JsonbValue	next;

		switch (step->kind)
		{
			case SF_PATH_STEP_MEMBER:
				if (!sf_json_member(&current, step->names[0].str,
									step->names[0].len, &next))
					return;
				break;
			case SF_PATH_STEP_INDEX:
				if (!element_at(&current, step->indexes[0], &next))
					return;
				break;
			case SF_PATH_STEP_FUNCTION:
				if (!sf_path_function_call(step, collector->penv, &current, &next, collector->error))
				{
					collector->failed = true;
					return;
				}
				break;
			case SF_PATH_STEP_MEMBERS:
			case SF_PATH_STEP_INDEXES:
				collect_union(collector, step, end, &current);
				return;
			case SF_PATH_STEP_SLICE:
				collect_slice(collector, step, end, &current);
				return;
			case SF_PATH_STEP_WILDCARD:
				collect_children(collector, step + 1, end, &current);
				return;
			case SF_PATH_STEP_DESCENT:
				collect_descent(collector, step + 1, end, &current);
				return;
			case SF_PATH_STEP_FILTER:
				collect_filtered(collector, step, end, &current);
				return;
		}
		current = next;
	}
	if (!collector->failed)
		add_match(collector, &current);
}

/* --- the whole path --- */

/* Find the value that a path begins at. */
static bool
find_root(const SfPath *path, SfPathEnv *penv, JsonbValue *out)
{
	Jsonb	   *document = NULL;

	switch (path->root)
	{
		case SF_PATH_ROOT_INPUT:
			document = penv->env->input;
			break;
		case SF_PATH_ROOT_CONTEXT:
			document = sf_env_context(penv->env);
			break;
		case SF_PATH_ROOT_VARIABLE:
			document = penv->env->variables;
			break;
		case SF_PATH_ROOT_CURRENT:
			if (penv->current != NULL)
				*out = *penv->current;
			return penv->current != NULL;
	}
	if (document == NULL)
		return false;
	sf_json_root(document, out);
	return path->root != SF_PATH_ROOT_VARIABLE ||
		sf_json_member(out, path->variable.str, path->variable.len, out);
}

/* Find the function that takes all matches of what stands before it, or the end. */
static const SfPathStep *
find_stop(const SfPath *path, const SfPathStep *step)
{
	while (step < path->steps + path->nsteps && !step->of_matches)
		step++;
	return step;
}

/* Tell whether a step can have several matches. */
static bool
is_indefinite(const SfPath *path, const SfPathStep *step)
{
	switch (step->kind)
	{
		case SF_PATH_STEP_MEMBER:
		case SF_PATH_STEP_INDEX:
		case SF_PATH_STEP_FUNCTION:
			return false;
		case SF_PATH_STEP_MEMBERS:
			return step + 1 < path->steps + path->nsteps;
		default:
			return true;
	}
}

/* Tell whether an indefinite step comes before another one. */
static bool
indefinite_before(const SfPath *path, const SfPathStep *step, const SfPathStep *stop)
{
	for (; step < stop; step++)
	{
		if (is_indefinite(path, step))
			return true;
	}
	return false;
}

/* Follow a step with one match. */
static SfPathStatus
follow_step(const SfPath *path, const SfPathStep *step, SfPathEnv *penv,
			JsonbValue *current, SfError *error)
{
	JsonbValue	next;

	switch (step->kind)
	{
		case SF_PATH_STEP_MEMBER:
			if (!sf_json_member(current, step->names[0].str,
								step->names[0].len, &next))
				return missing(path, step, current, error);
			break;
		case SF_PATH_STEP_MEMBERS:
			if (!sf_json_is_object(current))
				return missing(path, step, current, error);
			(void) merge_members(step, current, false, &next);
			break;
		case SF_PATH_STEP_INDEX:
			if (!sf_json_is_array(current))
				return missing(path, step, current, error);
			if (element_at(current, step->indexes[0], &next))
				break;
			/* The service takes what is past the end for null. */
			return step + 1 < path->steps + path->nsteps ?
				missing(path, step + 1, NULL, error) :
				no_results(path, SF_PATH_STATUS_PAST_END, error);
		case SF_PATH_STEP_FUNCTION:
			if (!sf_path_function_call(step, penv, current, &next, error))
				return SF_PATH_STATUS_FAILED;
			break;
		default:
			elog(ERROR, "unexpected step of kind %d", (int) step->kind);
	}
	*current = next;
	return SF_PATH_STATUS_FOUND;
}

/* Evaluate a path in whatever time it takes. */
static SfPathStatus
eval_steps(const SfPath *path, SfPathEnv *penv, JsonbValue *result, SfError *error)
{
	const SfPathStep *step = path->steps;
	const SfPathStep *end = path->steps + path->nsteps;
	JsonbValue	current;
	SfPathStatus status;

	check_stack_depth();
	if (!find_root(path, penv, &current))
		return no_results(path, SF_PATH_STATUS_MISSING, error);
	while (step < end)
	{
		const SfPathStep *stop;
		Collector	collector;

		if (!is_indefinite(path, step))
		{
			status = follow_step(path, step, penv, &current, error);
			if (status == SF_PATH_STATUS_FOUND)
			{
				step++;
				continue;
			}
			stop = find_stop(path, step);
			if (status == SF_PATH_STATUS_FAILED || !indefinite_before(path, step, stop))
				return status;
			step = stop;
			sf_json_root(sf_json_empty_array(), &current);
			continue;
		}
		stop = find_stop(path, step);
		memset(&collector, 0, sizeof(collector));
		collector.penv = penv;
		collector.error = error;
		collect(&collector, step, stop, &current);
		if (collector.failed)
			return SF_PATH_STATUS_FAILED;
		if (!sf_env_make(penv->env, collector.bytes, error))
			return SF_PATH_STATUS_FAILED;
		sf_json_root(sf_json_array_of(collector.values, collector.nvalues), &current);
		if (collector.values != NULL)
			pfree(collector.values);
		step = stop;
	}
	*result = current;
	return SF_PATH_STATUS_FOUND;
}

/*
 * Evaluate a path.  Members and indexes are followed without allocating; an
 * indefinite path yields an array, empty when nothing matches.
 */
SfPathStatus
sf_path_eval(const SfPath *path, SfPathEnv *penv, JsonbValue *result,
			 SfError *error)
{
	SfPathStatus status = eval_steps(path, penv, result, error);

	if (!penv->env->limit.is_over)
		return status;
	(void) sf_env_refuse_late(penv->env, error);
	return SF_PATH_STATUS_FAILED;
}
