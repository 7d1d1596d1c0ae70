/*
 * set.c
 *		Put a value at the node that a reference path names (ResultPath).
 *
 * The containers on the path are assembled again, from the inside out; their other
 * members are copied unchanged.  Missing members on the path become objects; an
 * array's element has to exist.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "expr/intrinsic.h"

/* Tell whether the node can be made: no scalar in the way, indexes in range. */
static bool
can_be_made(const SfPath *path, const Jsonb *document)
{
	JsonbValue	current;

	sf_json_root(document, &current);
	for (int i = 0; i < path->nsteps; i++)
	{
		const SfPathStep *step = &path->steps[i];
		JsonbValue	next;

		if (step->kind == SF_PATH_STEP_INDEX)
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
				if (path->steps[i].kind == SF_PATH_STEP_INDEX)
					return false;
			}
			return true;
		}
		current = next;
	}
	return true;
}

static void replace(const JsonbValue *node, const SfPathStep *step,
					const SfPathStep *end, const JsonbValue *value,
					JsonbValue *result);

/* Make an object with one member replaced or added; node NULL: a new object. */
static Jsonb *
replace_member(const JsonbValue *node, const SfPathStep *step, const SfPathStep *end,
			   const JsonbValue *value)
{
	const SfName *name = &step->names[0];
	int			n = node == NULL ? 0 : sf_json_count(node);
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * (n + 1));
	JsonbValue	old;
	Jsonb	   *document;
	bool		exists;

	if (node != NULL)
		(void) sf_json_list_members(node, members);
	exists = node != NULL && sf_json_member(node, name->str, name->len, &old);
	/* of two members with one key the last stays */
	sf_json_value_string(&members[n].key, name->str, name->len);
	replace(exists ? &old : NULL, step + 1, end, value, &members[n].value);
	document = sf_json_object_of(members, n + 1);
	pfree(members);
	return document;
}

/* Make an array with one element replaced. */
static Jsonb *
replace_element(const JsonbValue *node, const SfPathStep *step, const SfPathStep *end,
				const JsonbValue *value)
{
	JsonbIterator *it = sf_json_elements(node);
	JsonbValue *elements = palloc(sizeof(JsonbValue) * sf_json_count(node));
	JsonbValue	v;
	Jsonb	   *document;
	int64		n = 0;

	while (sf_json_next(&it, &v))
		elements[n++] = v;
	v = elements[step->indexes[0]];
	replace(&v, step + 1, end, value, &elements[step->indexes[0]]);
	document = sf_json_array_of(elements, n);
	pfree(elements);
	return document;
}

/* Give a value in which the node named by the remaining steps has the value. */
static void
replace(const JsonbValue *node, const SfPathStep *step, const SfPathStep *end,
		const JsonbValue *value, JsonbValue *result)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (step == end)
		*result = *value;
	else if (step->kind == SF_PATH_STEP_INDEX && node != NULL)
		sf_json_root(replace_element(node, step, end, value), result);
	else
		sf_json_root(replace_member(node, step, end, value), result);
}

/*
 * Put value at the node that a reference path names in doc, making the missing
 * objects of the path ("$": the result is value).  False with
 * States.ResultPathMatchFailure when a scalar is on the path, or an array's index
 * is out of range.
 */
bool
sf_expr_set(const SfExpr *expr, const Jsonb *document, const Jsonb *value,
			Jsonb **result, SfError *error)
{
	const SfPath *path = expr->path;
	JsonbValue	root;
	JsonbValue	replaced;
	JsonbValue	leaf;

	if (path == NULL || !path->is_reference)
		elog(ERROR, "\"%s\" is no reference path", expr->text);
	if (path->nsteps == 0)
	{
		sf_json_root(value, &leaf);
		*result = sf_json_make(&leaf);
		return true;
	}
	if (!can_be_made(path, document))
		return sf_error_set(error, SF_ERR_RESULT_PATH_MATCH_FAILURE,
							"Unable to apply ReferencePath %s to input %s",
							expr->text, sf_json_excerpt(document));
	sf_json_root(document, &root);
	sf_json_root(value, &leaf);
	replace(&root, path->steps, path->steps + path->nsteps, &leaf, &replaced);
	*result = sf_json_make(&replaced);
	return true;
}
