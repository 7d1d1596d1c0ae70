/*
 * node_feature.c
 *		What nodes have in the registry: shared memory for when they have answered, and a row of sf_health.
 */
#include "postgres.h"

#include "feature/node/node.h"
#include "store/feature.h"

/* A database is gone: forget when its nodes have answered. */
static void
database_gone(Oid database)
{
	sf_node_forget_all(database);
}

const SfFeature sf_node_feature = {
	.name = "node",
	.init = sf_node_seen_init,
	.put_health = sf_node_health,
	.on_database_gone = database_gone,
};
