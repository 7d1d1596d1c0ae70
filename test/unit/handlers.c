/*
 * handlers.c
 *		Run the cases of sf_test_state without a server or a database.
 *
 * This library is linked with the objects of transition/ and the layers below it,
 * and preloaded into the program "postgres".  Its constructor runs before
 * main(): there are PostgreSQL's memory contexts and its functions on jsonb and
 * numeric, but no data directory, shared memory, transaction or catalogue.  A
 * state handler that reads a table, a catalogue or a setting of the server
 * crashes here.
 *
 * Input: the file that SFFLOW_CASES names, with one case per line and fields
 * separated by tabs (where the case stands, definition, input, mock, level,
 * state name, variables, expected result).  Output: TAP.
 */
#include "postgres.h"

#include <unistd.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timeout.h"

#include "asl/program.h"
#include "feature/test_state/test_state.h"

#define FIELDS 8

/* A member of a document as a count. */
static int
count_member(const Jsonb *document, const char *key, int absent)
{
	Jsonb	   *value = document == NULL ? NULL : sf_json_get(document, key);
	JsonbValue	root;
	int64		count;

	if (value == NULL)
		return absent;
	sf_json_root(value, &root);
	return sf_json_to_int64(&root, &count) ? (int) count : absent;
}

/* Read a mock. */
static void
read_mock(SfStateTest *test, const Jsonb *mock)
{
	Jsonb	   *error = sf_json_get(mock, "errorOutput");
	Jsonb	   *configuration = sf_json_get(mock, "stateConfiguration");
	Jsonb	   *result = sf_json_get(mock, "result");

	if (result != NULL)
		test->mock = (SfMock) {.kind = SF_MOCK_KIND_RESULT,.result = result};
	else if (error != NULL)
		test->mock = (SfMock) {
			.kind = SF_MOCK_KIND_ERROR,
			.error = {.name = sf_json_get_cstring(error, "error"),.cause = sf_json_get_cstring(error, "cause")}
		};
	test->retries = count_member(configuration, "retrierRetryCount", 0);
	test->failed_iterations = count_member(configuration, "mapIterationFailureCount", 0);
	if (configuration != NULL)
		test->reader_data = sf_json_get(configuration, "mapItemReaderData");
}

/* Read an inspection level. */
static SfInspectionLevel
read_level(const char *level)
{
	return strcmp(level, "INFO") == 0 ? SF_LEVEL_INFO :
		strcmp(level, "DEBUG") == 0 ? SF_LEVEL_DEBUG : SF_LEVEL_TRACE;
}

/* A field of a case; NULL for "-". */
static char *
optional(char *field)
{
	return strcmp(field, "-") == 0 ? NULL : field;
}

/* {"status": …} of a result. */
static Jsonb *
result_status(const Jsonb *result)
{
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "status", sf_json_get_cstring(result, "status"));
	return sf_json_end(&b);
}

/* Take the items of an ItemReader out of an array. */
static bool
parse_items(const SfState *state, const Jsonb *payload, const Jsonb *content,
			int max_items, SfItemsGiven *items, SfError *error)
{
	JsonbValue	array,
				item;

	sf_json_root(content, &array);
	for (int i = 0; sf_json_element(&array, i, &item); i++)
		items->items = lappend(items->items, sf_json_make(&item));
	return true;
}

/* Run a case; true if its result is the expected one. */
static bool
run_case(char *const *field)
{
	SfStateTest test = {.failed_iterations = -1,.parse_items = parse_items};
	List	   *diagnostics;
	Jsonb	   *result,
			   *expected;

	test.program = sf_asl_compile_state(field[1], strlen(field[1]), optional(field[5]),
										CurrentMemoryContext, &test.state, &diagnostics);
	if (test.program == NULL)
	{
		printf("# %s\n", sf_diagnostics_print(diagnostics));
		return false;
	}
	test.input = sf_json_from_cstring(field[2]);
	test.variables = sf_json_from_cstring(optional(field[6]) ? field[6] : "{}");
	if (optional(field[3]) != NULL)
		read_mock(&test, sf_json_from_cstring(field[3]));
	/* some time of 2025 */
	result = sf_test_state_run(&test, read_level(field[4]), INT64CONST(800000000) * USECS_PER_SEC);
	expected = sf_json_from_cstring(field[7]);
	/* some cases do not say the status */
	if (sf_json_get(expected, "status") == NULL)
		expected = sf_json_merge(result_status(result), expected);
	if (sf_json_is_equal(result, expected))
		return true;
	printf("# got %s\n", sf_json_to_cstring(result));
	return false;
}

/* Run a case, and take an error for a result that is not the expected one. */
static bool
run_guarded(char *const *field)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "case",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	volatile bool ok = false;

	PG_TRY();
	{
		ok = run_case(field);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		printf("# error: %s\n", CopyErrorData()->message);
		FlushErrorState();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return ok;
}

/* Run all cases of a file; how many failed. */
static int
run_file(FILE *cases)
{
	char	   *line = NULL;
	size_t		size = 0;
	int			n = 0;
	int			failed = 0;

	while (getline(&line, &size, cases) > 0)
	{
		char	   *field[FIELDS];
		char	   *rest = line;
		bool		ok;

		for (int i = 0; i < FIELDS; i++)
		{
			field[i] = strsep(&rest, "\t\n");
			if (field[i] == NULL)
				elog(ERROR, "a case has %d fields", i);
		}
		ok = run_guarded(field);
		failed += !ok;
		printf("%s %d - %s\n", ok ? "ok" : "not ok", ++n, field[0]);
	}
	printf("1..%d\n", n);
	return failed;
}

/* Run the cases in place of the program that this library is loaded into. */
__attribute__((constructor)) static void
run_instead(void)
{
	const char *name = getenv("SFFLOW_CASES");
	FILE	   *cases = name == NULL ? NULL : fopen(name, "r");
	int			failed;

	if (cases == NULL)
		return;
	MyProcPid = getpid();
	MemoryContextInit();
	(void) set_stack_base();
	SetDatabaseEncoding(PG_UTF8);
	InitializeTimeouts();
	failed = run_file(cases);
	fflush(stdout);
	_exit(failed > 0);
}
