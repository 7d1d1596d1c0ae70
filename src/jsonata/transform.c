/*
 * transform.c
 *		The transform operator: a clone of the input, edited in place.
 */
#include "postgres.h"

#include "jsonata/eval.h"

/* Merge the update of one match into it. */
static void
update_match(SfJnEval *ev, const SfJnFunction *f, SfJnValue *match)
{
	SfJnValue  *update = sf_jn_eval(ev, f->node->rhs, match, f->env);

	if (update == NULL)
		return;
	if (update->type != SF_JN_OBJECT)
		sf_jn_fail_at(ev, f->node->rhs->position, SF_JN_T2011, .value = update);
	if (SF_JN_IS_OBJECT(match))
		sf_jn_set_all(&ev->arena, match, update);
}

/* Remove what the delete clause names from one match. */
static void
delete_from_match(SfJnEval *ev, const SfJnFunction *f, SfJnValue *match)
{
	SfJnValue  *names = sf_jn_eval(ev, f->node->third, match, f->env);
	SfJnValue **items;
	uint32		n = sf_jn_items(&names, &items);
	uint32		i;

	if (names == NULL)
		return;
	for (i = 0; i < n; i++)
	{
		if (!SF_JN_IS_STRING(items[i]))
			sf_jn_fail_at(ev, f->node->third->position, SF_JN_T2012, .value = names);
	}
	for (i = 0; i < n && SF_JN_IS_OBJECT(match); i++)
		sf_jn_delete(match, items[i]->u.str, items[i]->len);
}

/* Apply a transform to an object or array. */
SfJnValue *
sf_jn_apply_transform(SfJnEval *ev, const SfJnFunction *f, SfJnValue *object)
{
	static SfJnName name = {NULL};
	SfJnValue  *clone;
	SfJnValue  *result;
	SfJnValue  *matches;
	SfJnValue **items;
	uint32		n;
	uint32		i;

	if (object == NULL)
		return NULL;
	if (object->type != SF_JN_OBJECT && object->type != SF_JN_ARRAY)
		sf_jn_fail(ev, SF_JN_T0410, .value = object, .index = 1);
	if (name.str == NULL)
		name = sf_jn_name("clone", 5);
	clone = sf_jn_lookup(ev, f->env, &name);
	if (!SF_JN_IS_FUNCTION(clone))
		sf_jn_fail_at(ev, f->node->position, SF_JN_T2013);
	result = sf_jn_apply(ev, clone, &object, 1, NULL, f->env);
	matches = sf_jn_eval(ev, f->node->lhs, result, f->env);
	if (matches == NULL)
		return result;
	n = sf_jn_items(&matches, &items);
	for (i = 0; i < n; i++)
	{
		sf_jn_check(ev);
		update_match(ev, f, items[i]);
		if (f->node->third != NULL)
			delete_from_match(ev, f, items[i]);
	}
	return result;
}
