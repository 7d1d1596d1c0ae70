/*
 * compile_map.c
 *		What a Map state has of its own.
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
compile_reader(SfCompiler *c, const SfNode *reader, SfState *state)
{
	const SfNode *config = sf_node_member(reader, "ReaderConfig");

	if (reader == NULL)
		return;
	state->item_reader = compile_resource(reader);
	state->item_reader_parameters =
		sf_compile_template(c, reader, c->language == SF_QL_JSONATA
							? "Arguments" : "Parameters");
	state->reader_config = sf_compile_jsonb(c, reader, "ReaderConfig");
	state->max_items = sf_compile_value(c, config, "MaxItems", SF_EXPR_PATH);
}

/* Compile ItemBatcher. */
static void
compile_batcher(SfCompiler *c, const SfNode *batcher, SfState *state)
{
	state->max_items_per_batch =
		sf_compile_value(c, batcher, "MaxItemsPerBatch", SF_EXPR_PATH);
	state->max_input_bytes_per_batch =
		sf_compile_value(c, batcher, "MaxInputBytesPerBatch", SF_EXPR_PATH);
	state->batch_input = sf_compile_template(c, batcher, "BatchInput");
}

/* Compile ResultWriter. */
static void
compile_writer(SfCompiler *c, const SfNode *writer, SfState *state)
{
	if (writer == NULL)
		return;
	state->result_writer = compile_resource(writer);
	state->result_writer_parameters =
		sf_compile_template(c, writer, c->language == SF_QL_JSONATA
							? "Arguments" : "Parameters");
	state->writer_config = sf_compile_jsonb(c, writer, "WriterConfig");
}

/* Compile the fields of a Map state, its processor excepted. */
void
sf_compile_map(SfCompiler *c, const SfNode *node, SfState *state)
{
	state->distributed = sf_asl_is_distributed(node);
	state->items_path = sf_compile_path(c, node, "ItemsPath", SF_EXPR_REFERENCE);
	state->items = sf_compile_template(c, node, "Items");
	state->items_text = sf_compile_expression_text(c, sf_node_member(node, "Items"));
	state->item_selector = sf_compile_template(c, node, "ItemSelector");
	if (state->item_selector == NULL)
		state->item_selector = sf_compile_template(c, node, "Parameters");
	state->max_concurrency = sf_compile_value(c, node, "MaxConcurrency", SF_EXPR_PATH);
	state->tolerated_failure_count =
		sf_compile_value(c, node, "ToleratedFailureCount", SF_EXPR_PATH);
	state->tolerated_failure_percentage =
		sf_compile_value(c, node, "ToleratedFailurePercentage", SF_EXPR_PATH);
	state->label = sf_compile_string(c, node, "Label");

	compile_reader(c, sf_node_member(node, "ItemReader"), state);
	state->item_batcher = sf_compile_jsonb(c, node, "ItemBatcher");
	compile_batcher(c, sf_node_member(node, "ItemBatcher"), state);
	compile_writer(c, sf_node_member(node, "ResultWriter"), state);
}
