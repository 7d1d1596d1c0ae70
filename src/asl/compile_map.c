/*
 * compile_map.c
 *		Fields that only Map states have.
 */
#include "postgres.h"

#include "asl/compile.h"

/* Compile Resource of a reader or writer; NULL when it has none. */
static SfResource *
compile_resource(const SfNode *object)
{
	const char *text = sf_node_member_string(object, "Resource");
	SfResource *resource;

	if (text == NULL)
		return NULL;
	resource = palloc(sizeof(SfResource));
	sf_resource_parse(text, resource);
	return resource;
}

/* Compile ItemReader. */
static void
compile_reader(SfCompiler *c, const SfNode *reader, SfDistributedMap *distributed)
{
	const SfNode *config = sf_node_member(reader, "ReaderConfig");

	if (reader == NULL)
		return;
	distributed->item_reader = compile_resource(reader);
	distributed->item_reader_parameters =
		sf_compile_template(c, reader, c->language == SF_QL_JSONATA
							? "Arguments" : "Parameters");
	distributed->reader_config = sf_compile_jsonb(c, reader, "ReaderConfig");
	distributed->max_items = sf_compile_value(c, config, "MaxItems", SF_EXPR_PATH);
}

/* Compile ItemBatcher. */
static void
compile_batcher(SfCompiler *c, const SfNode *batcher,
				SfDistributedMap *distributed)
{
	distributed->max_items_per_batch =
		sf_compile_value(c, batcher, "MaxItemsPerBatch", SF_EXPR_PATH);
	distributed->max_input_bytes_per_batch =
		sf_compile_value(c, batcher, "MaxInputBytesPerBatch", SF_EXPR_PATH);
	distributed->batch_input = sf_compile_template(c, batcher, "BatchInput");
}

/* Compile ResultWriter. */
static void
compile_writer(SfCompiler *c, const SfNode *writer, SfDistributedMap *distributed)
{
	if (writer == NULL)
		return;
	distributed->result_writer = compile_resource(writer);
	distributed->result_writer_parameters =
		sf_compile_template(c, writer, c->language == SF_QL_JSONATA
							? "Arguments" : "Parameters");
	distributed->writer_config = sf_compile_jsonb(c, writer, "WriterConfig");
}

/* Compile what a Map state in mode DISTRIBUTED has besides. */
static SfDistributedMap *
compile_distributed(SfCompiler *c, const SfNode *node)
{
	SfDistributedMap *distributed = palloc0(sizeof(SfDistributedMap));

	distributed->label = sf_compile_string(c, node, "Label");
	compile_reader(c, sf_node_member(node, "ItemReader"), distributed);
	distributed->item_batcher = sf_compile_jsonb(c, node, "ItemBatcher");
	compile_batcher(c, sf_node_member(node, "ItemBatcher"), distributed);
	compile_writer(c, sf_node_member(node, "ResultWriter"), distributed);
	return distributed;
}

/* Compile the fields of a Map state, its processor excepted. */
void
sf_compile_map(SfCompiler *c, const SfNode *node, SfState *state)
{
	SfMapState *map = &state->map;

	map->items_path = sf_compile_path(c, node, "ItemsPath", SF_EXPR_REFERENCE);
	map->items = sf_compile_template(c, node, "Items");
	map->items_text = sf_compile_expression_text(c, sf_node_member(node, "Items"));
	map->item_selector = sf_compile_template(c, node, "ItemSelector");
	if (map->item_selector == NULL)
		map->item_selector = sf_compile_template(c, node, "Parameters");
	map->max_concurrency = sf_compile_value(c, node, "MaxConcurrency", SF_EXPR_PATH);
	map->tolerated_failure_count =
		sf_compile_value(c, node, "ToleratedFailureCount", SF_EXPR_PATH);
	map->tolerated_failure_percentage =
		sf_compile_value(c, node, "ToleratedFailurePercentage", SF_EXPR_PATH);
	if (sf_asl_is_distributed(node))
		map->distributed = compile_distributed(c, node);
}
