/*
 * access_feature.c
 *		Keys with which clients of the AWS API and of the endpoint for agents sign in.
 */
#include "postgres.h"

#include "feature/access/access_key.h"
#include "store/feature.h"

static const SfFeatureTable tables[] = {
	{"access_key",.by_role = "access_key_role"},
	{NULL}
};

/* The keys of a role go with what it owned: they would act for a role that has no objects any more. */
static void
owner_changed(Oid from, Oid to)
{
	sf_access_key_delete_of(from);
}

const SfFeature sf_access_feature = {
	.name = "access",
	.tables = tables,
	.on_owner_changed = owner_changed,
};
