/*
 * result_writer.h
 *		The tasks of a Distributed Map, and its ResultWriter: parts of it that
 *		services write files with.
 */
#ifndef SF_RUN_RESULT_WRITER_H
#define SF_RUN_RESULT_WRITER_H

#include "run/apply/apply.h"
#include "run/task/task_runner.h"

/* Results in the form that WriterConfig asks for. */
typedef enum SfResultForm
{
	SF_RESULT_FORM_NONE,		/* with all that is known of the item execution */
	SF_RESULT_FORM_COMPACT,		/* outputs */
	SF_RESULT_FORM_FLATTEN		/* elements of outputs that are arrays */
} SfResultForm;

/* The results that a part holds */
typedef enum SfResultChoice
{
	SF_RESULT_CHOICE_SUCCEEDED,
	SF_RESULT_CHOICE_FAILED,
	SF_RESULT_CHOICE_ALL
} SfResultChoice;

typedef struct SfResultWriter
{
	const SfMapRun *map_run;
	const SfDistributedMap *map;
	const SfTaskCall *call;
	const char *machine;
	const char *map_run_name;	/* its public name */
	SfResultForm form;
	MemoryContext context;		/* of the part at hand */
	int64		results;
	SfTaskOutcome outcome;		/* of the last call */

	/* writes a part; false: *outcome has the error */
	bool		(*put) (struct SfResultWriter *writer, SfResultChoice choice,
						const Jsonb *part);
	void	   *files;			/* of the service that writes files */
} SfResultWriter;

extern void sf_map_task_run(const SfDraft *draft, const SfBranch *branch,
							const SfTaskCall *call, SfTaskOutcome *out);
extern Jsonb *sf_result_writer_outputs(const SfDraft *draft, const SfBranch *branch);
extern bool sf_result_writer_call(SfResultWriter *writer, Jsonb *payload);
extern bool sf_result_writer_put_all(SfResultWriter *writer, SfResultChoice choice);

#endif							/* SF_RUN_RESULT_WRITER_H */
