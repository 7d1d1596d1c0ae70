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
	SfJnValue **items = &names;
	uint32		n = 1;
	uint32		i;

	if (names == NULL)
		return;
	if (names->type == SF_JN_ARRAY)
	{
		items = names->u.items;
		n = names->len;
	}
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
	static const SfJnName *clone_name = NULL;
	static SfJnName name;
	SfJnValue  *clone;
	SfJnValue  *result;
	SfJnValue  *matches;
	uint32		i;

	if (object == NULL)
		return NULL;
	if (object->type != SF_JN_OBJECT && object->type != SF_JN_ARRAY)
		sf_jn_fail(ev, SF_JN_T0410, .value = object, .index = 1);
	if (clone_name == NULL)
	{
		name = sf_jn_name("clone", 5);
		clone_name = &name;
	}
	clone = sf_jn_lookup(ev, f->env, clone_name);
	if (!SF_JN_IS_FUNCTION(clone))
		sf_jn_fail_at(ev, f->node->position, SF_JN_T2013);
	result = sf_jn_apply(ev, clone, &object, 1, NULL, f->env);
	matches = sf_jn_eval(ev, f->node->lhs, result, f->env);
	if (matches == NULL)
		return result;
	for (i = 0; i < (SF_JN_IS_ARRAY(matches) ? matches->len : 1); i++)
	{
		SfJnValue  *match = SF_JN_IS_ARRAY(matches) ? matches->u.items[i] : matches;

		sf_jn_check(ev);
		update_match(ev, f, match);
		if (f->node->third != NULL)
			delete_from_match(ev, f, match);
	}
	return result;
}
