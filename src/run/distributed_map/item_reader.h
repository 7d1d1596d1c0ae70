/*
 * item_reader.h
 *		ItemReader: parts of it that services read lists of files with.
 */
#ifndef SF_RUN_ITEM_READER_H
#define SF_RUN_ITEM_READER_H

#include "run/apply/apply.h"
#include "run/task/task_runner.h"

typedef struct SfItemReader
{
	SfRowSink	sink;			/* first: rows of the resource come here */
	const SfMapRun *map_run;	/* NULL: the items are kept in memory */
	const SfTaskCall *call;
	const SfResource *resource; /* as written */
	const Jsonb *config;		/* ReaderConfig, or NULL */
	const char *input_type;		/* JSON where it is not given */
	SfItemWriter *writer;
	int			count;			/* items so far */
	int			before;			/* items when the resource was called */
	int			limit;
	MemoryContext context;		/* where map_run is NULL: … */
	List	   *kept;			/* … Jsonb: the items */
	Jsonb	   *pointed;		/* what ItemsPointer leads to */
	bool		streamed;		/* the resource gave rows */
	bool		keyed;
	const char *source;			/* what is read, for error messages */
	SfError		error;
} SfItemReader;

/* Items of a content that is given, not read */
typedef struct SfItemsGiven
{
	List	   *items;			/* Jsonb */
	bool		keyed;			/* they are the members of an object */
	Jsonb	   *pointed;		/* what ItemsPointer leads to; NULL: there is none */
} SfItemsGiven;

extern void sf_item_reader_run(const SfMapRun *map_run, const SfState *state,
							   const SfTaskCall *call, SfTaskOutcome *out);
extern const char *sf_item_reader_option(const SfItemReader *reader,
										 const char *name, const char *otherwise);
extern List *sf_item_reader_headers(const SfItemReader *reader);
extern bool sf_item_reader_refuse(SfItemReader *reader, const char *cause);
extern bool sf_item_reader_refuse_scalar(SfItemReader *reader);
extern bool sf_item_reader_load(SfItemReader *reader, const SfResource *resource,
								const char *type, Jsonb *payload, List *headers);
extern Jsonb *sf_item_reader_request(const SfBranch *branch, const SfState *state,
									 Jsonb *payload);
extern bool sf_item_reader_read_answer(const SfBranch *branch, Jsonb **answer,
									   SfError *error);
extern bool sf_item_reader_add_array(SfItemReader *reader, const JsonbValue *array);
extern bool sf_item_reader_parse(const SfState *state, const Jsonb *payload, const Jsonb *content,
								 int max_items, SfItemsGiven *items, SfError *error);

#endif							/* SF_RUN_ITEM_READER_H */
