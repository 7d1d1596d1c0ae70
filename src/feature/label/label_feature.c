/*
 * label_feature.c
 *		What labels have in the registry: their table and option, and what they do when executions begin.
 */
#include "postgres.h"

#include "feature/label/label.h"
#include "store/feature.h"

/* An index on execution_no would cost each label more than the purge saves: the rows are found by their whole key. */
static const SfFeatureTable tables[] = {
	{
		"label",.of_execution = SF_ROWS_GO_ALONG,.purge =
		", LATERAL pg_catalog.jsonb_each_text(x.labels) v WHERE d.name = v.key AND d.value = v.value"
		" AND d.machine_no = x.machine_no AND d.requested_at = x.requested_at AND"
	},
	{NULL}
};

/* The number of what is compiled; the registry sets it */
static int	number;

static const char *const start_options[] = {"labels", NULL};
static const char *const option_names[] = {"labels", "label_children", NULL};

/* An execution begins: its labels are in its row. */
static void
beginning(const SfExecution *execution, SfBranch *root)
{
	sf_label_insert_rows(execution);
}

static const SfFeatureOptions machine_options = {
	.names = option_names,
	.number = &number,
	.compile = sf_label_compile_options,
};

static const SfFeatureLabels labels = {
	.give = sf_label_eval,
	.of_item = sf_label_of_items,
	.on_changed = sf_label_replace_rows,
};

const SfFeature sf_label_feature = {
	.name = "label",
	.tables = tables,
	.start_options = start_options,
	.machine_options = &machine_options,
	.labels = &labels,
	.on_beginning = beginning,
};
