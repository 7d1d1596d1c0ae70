/*
 * test_state.h
 *		One state by itself: run it in memory, and look at its data.
 */
#ifndef SF_FEATURE_TEST_STATE_H
#define SF_FEATURE_TEST_STATE_H

#include "asl/program.h"
#include "run/distributed_map/item_reader.h"
#include "transition/step.h"

/* What stands in for the outcome of a Task, or of the children of a join */
typedef enum SfMockKind
{
	SF_MOCK_KIND_NONE,
	SF_MOCK_KIND_RESULT,
	SF_MOCK_KIND_ERROR,
	SF_MOCK_KIND_JOBS				/* of a JobNet: a mock for each job */
} SfMockKind;

/* How a result is checked against what the API would return (fieldValidationMode) */
typedef enum SfMockCheck
{
	SF_MOCK_CHECK_NONE,
	SF_MOCK_CHECK_PRESENT,		/* what is there */
	SF_MOCK_CHECK_STRICT		/* also that all is there that has to be */
} SfMockCheck;

/* A mock: sf_mock_result and the like read what its kind has */
typedef struct SfMock
{
	SfMockKind	kind;
	SfMockCheck check;
	union
	{
		Jsonb	   *result;		/* RESULT */
		SfError		error;		/* ERROR: of the name and the cause either may be NULL */
		struct SfMock *jobs;	/* JOBS: by number */
	};
} SfMock;

/* sf_mock_result(mock), sf_mock_error(mock) …: what its kind has */
#define SF_MOCK_PART(KIND, part_type, part, at) \
	static inline part_type \
	sf_mock_##part(const SfMock *mock) \
	{ \
		Assert(mock->kind == SF_MOCK_KIND_##KIND); \
		return at mock->part; \
	}
SF_MOCK_PART(RESULT, Jsonb *, result, )
SF_MOCK_PART(ERROR, const SfError *, error, &)
SF_MOCK_PART(JOBS, const SfMock *, jobs, )

typedef struct SfStateTest
{
	const SfProgram *program;
	int			state;
	Jsonb	   *input;
	Jsonb	   *context;		/* NULL: made up */
	Jsonb	   *variables;
	SfMock		mock;

	/* what happened to the state before */
	int			retries;		/* attempts that the matching retrier has made */
	int			failed_iterations;	/* of a Map */
	Jsonb	   *reader_data;	/* the content that an ItemReader finds, or NULL */

	/* takes the items out of reader_data: sf_item_reader_parse() */
	bool		(*parse_items) (const SfState *state, const Jsonb *payload, const Jsonb *content,
								int max_items, SfItemsGiven *items, SfError *error);

	/* runs a Task that has no mock */
	void		(*run_task) (struct SfStateTest *test, const SfState *state,
							 const SfTaskRequest *task, SfOutcome *out);

	/* fails a mocked Task that waits for what a feature gives and has wrong parameters; NULL: no feature is there */
	void		(*check_wait) (const SfTaskRequest *task, SfOutcome *out);

	/* runs the jobs of a JobNet that have mocks: sf_test_net() */
	Jsonb	   *(*run_jobs) (const struct SfStateTest *test, const SfLoaded *loaded,
							 SfBranch *join, SfJoined *joined, TimestampTz now);
} SfStateTest;

typedef enum SfInspectionLevel
{
	SF_LEVEL_INFO,
	SF_LEVEL_DEBUG,
	SF_LEVEL_TRACE
} SfInspectionLevel;

extern Jsonb *sf_test_net(const SfStateTest *test, const SfLoaded *loaded, SfBranch *join,
						 SfJoined *joined, TimestampTz now);
extern Jsonb *sf_test_state_run(SfStateTest *test, SfInspectionLevel level,
								TimestampTz now);

/* --- test_context.c: the context object that sf_test_state() is given --- */

extern const char *sf_test_context_check(const Jsonb *context, const SfState *state);

#endif							/* SF_FEATURE_TEST_STATE_H */
