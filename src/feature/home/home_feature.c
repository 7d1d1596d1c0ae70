/*
 * home_feature.c
 *		What homes have in the registry: their table and options, and what sf_health says of a cluster.
 */
#include "postgres.h"

#include "feature/home/home.h"
#include "store/feature.h"

static const SfFeatureTable tables[] = {
	{"execution_key",.of_execution = SF_ROWS_GO_ALONG,.cached = true},
	{NULL}
};

static const char *const start_options[] = {"key", NULL};
static const char *const option_names[] = {"key_path", NULL};

/* Say whether this database is a node that can do its part in transactions over nodes; nothing where Citus is not. */
static void
put_health(SfHealthPut put, void *arg)
{
	int			node;

	if (!sf_home_has_citus())
		return;
	node = sf_home_node_number();
	if (!OidIsValid(sf_home_table()))
		put(arg, "cluster", false,
			"there is no distributed table sf_home: a task that writes on another node may run twice after a crash; see docs/scale.md");
	else if (sf_home_local_key() == NULL)
		put(arg, "cluster", false,
			"this node has no shard of sf_home: transactions of sfflow that write on other nodes fail; see docs/scale.md");
	else if (!sf_home_tells())
		put(arg, "cluster", false,
			"the table sf_home has no columns node and from_node: a name may be started twice once its shard was moved; see docs/scale.md");
	else if (node == SF_NO_NODE)
		put(arg, "cluster", false,
			"sf_set_node() has given this node no number: its executions have numbers that those of other nodes have, too");
	else
		put(arg, "cluster", true, psprintf("node %d", node));
}

static const SfFeatureOptions machine_options = {
	.names = option_names,
	.number = &sf_home_option,
	.compile = sf_home_compile_options,
};

const SfFeature sf_home_feature = {
	.name = "home",
	.tables = tables,
	.start_options = start_options,
	.machine_options = &machine_options,
	.init = sf_home_init,
	.prepare = sf_home_prepare,
	.on_beginning = sf_home_beginning,
	.keep_here = sf_home_keep,
	.put_health = put_health,
};
