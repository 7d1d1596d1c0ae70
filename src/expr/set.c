/*
 * set.c
 *		Putting a value at the place that a reference path names (ResultPath).
 *
 * The document is copied once, from the outside in; what lies beside the path
 * is pushed as it is.  Members that are missing on the way are made as
 * objects; an array's element has to be there.
 */
#include "postgres.h"

#include "expr/compiled.h"
#include "miscadmin.h"

/* Tell whether the place can be made: no scalar in the way, indexes in range. */
static bool
place_exists(const SfPath *path, const Jsonb *doc)
{
	JsonbValue	current;
	int			i;

	sf_json_root(doc, &current);
	for (i = 0; i < path->nsteps; i++)
	{
		const SfStep *step = &path->steps[i];
		JsonbValue	next;

		if (step->kind == SF_STEP_INDEX)
		{
			if (!sf_json_element(&current, step->indexes[0], &next))
				return false;
		}
		else if (!sf_json_is_object(&current))
			return false;
		else if (!sf_json_member(&current, step->names[0].str,
								 step->names[0].len, &next))
		{
			/* From here on only objects are made. */
			for (i++; i < path->nsteps; i++)
			{
				if (path->steps[i].kind == SF_STEP_INDEX)
					return false;
			}
			return true;
		}
		current = next;
	}
	return true;
}

static JsonbValue *push_replaced(JsonbParseState **ps, JsonbIteratorToken as,
								 const JsonbValue *node, const SfStep *step,
								 const SfStep *end, const JsonbValue *value);

/* Push an object with one member replaced or added; node NULL: a new object. */
static JsonbValue *
push_object(JsonbParseState **ps, const JsonbValue *node, const SfStep *step,
			const SfStep *end, const JsonbValue *value)
{
	const SfName *name = &step->names[0];
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	v;
	JsonbValue	old;
	bool		exists;

	(void) pushJsonbValue(ps, WJB_BEGIN_OBJECT, NULL);
	exists = node != NULL && sf_json_member(node, name->str, name->len, &old);
	if (node != NULL)
	{
		bool		skip = false;

		it = JsonbIteratorInit(node->val.binary.data);
		while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
		{
			if (token == WJB_KEY)
				skip = v.val.string.len == name->len &&
					memcmp(v.val.string.val, name->str, name->len) == 0;
			if ((token == WJB_KEY || token == WJB_VALUE) && !skip)
				(void) pushJsonbValue(ps, token, &v);
		}
	}
	v.type = jbvString;
	v.val.string.val = name->str;
	v.val.string.len = name->len;
	(void) pushJsonbValue(ps, WJB_KEY, &v);
	(void) push_replaced(ps, WJB_VALUE, exists ? &old : NULL, step + 1, end, value);
	return pushJsonbValue(ps, WJB_END_OBJECT, NULL);
}

/* Push an array with one element replaced. */
static JsonbValue *
push_array(JsonbParseState **ps, const JsonbValue *node, const SfStep *step,
		   const SfStep *end, const JsonbValue *value)
{
	JsonbIterator *it = JsonbIteratorInit(node->val.binary.data);
	JsonbIteratorToken token;
	JsonbValue	v;
	int64		i = 0;

	(void) pushJsonbValue(ps, WJB_BEGIN_ARRAY, NULL);
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		if (i++ == step->indexes[0])
			(void) push_replaced(ps, WJB_ELEM, &v, step + 1, end, value);
		else
			(void) pushJsonbValue(ps, WJB_ELEM, &v);
	}
	return pushJsonbValue(ps, WJB_END_ARRAY, NULL);
}

/* Push a node in which the place named by the remaining steps has the value. */
static JsonbValue *
push_replaced(JsonbParseState **ps, JsonbIteratorToken as,
			  const JsonbValue *node, const SfStep *step, const SfStep *end,
			  const JsonbValue *value)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (step == end)
		return pushJsonbValue(ps, as, (JsonbValue *) value);
	if (step->kind == SF_STEP_INDEX)
		return push_array(ps, node, step, end, value);
	return push_object(ps, node, step, end, value);
}

/*
 * Put a value at the place that a reference path names.  False with
 * States.ResultPathMatchFailure where there is no such place.
 */
bool
sf_expr_set(const SfExpr *expr, const Jsonb *doc, const Jsonb *value,
			Jsonb **result, SfError *err)
{
	const SfPath *path = expr->path;
	JsonbParseState *ps = NULL;
	JsonbValue	root;
	JsonbValue	leaf;

	if (path == NULL || !path->reference)
		elog(ERROR, "\"%s\" is no reference path", expr->text);
	if (path->nsteps == 0)
	{
		sf_json_root(value, &leaf);
		*result = sf_json_make(&leaf);
		return true;
	}
	if (!place_exists(path, doc))
		return sf_error_set(err, SF_ERR_RESULT_PATH_MATCH_FAILURE,
							"Unable to apply ReferencePath %s to input %s",
							expr->text, sf_json_to_cstring(doc));
	sf_json_root(doc, &root);
	sf_json_root(value, &leaf);
	*result = sf_json_make(push_replaced(&ps, WJB_VALUE, &root, path->steps,
										 path->steps + path->nsteps, &leaf));
	return true;
}
