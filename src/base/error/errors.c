/*
 * errors.c
 *		Names and constructors for the errors listed in errors.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "lib/stringinfo.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "base/error/errors.h"

#define HTTP_STATUS_PREFIX	"States.Http.StatusCode."

#define SF_STATES_ERROR_DEFINE(sym, name, use, meaning) \
	const char *const SF_ERR_##sym = name;
SF_STATES_ERROR_LIST(SF_STATES_ERROR_DEFINE)

/* Format a message of any length; args can be used again. */
char *
sf_error_format(const char *fmt, va_list args)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		copy;
		int			needed;

		va_copy(copy, args);
		needed = appendStringInfoVA(&buf, fmt, copy);
		va_end(copy);
		if (needed == 0)
			return buf.data;
		enlargeStringInfo(&buf, needed);
	}
}

/* Say in an error which node has what was asked for. */
int
sf_error_node(int node)
{
	return err_generic_string(PG_DIAG_TABLE_NAME, psprintf("%d", node));
}

/* Fill an SfError with a name and a cause yet to be formatted. */
bool
sf_error_set_va(SfError *error, const char *name, const char *fmt, va_list args)
{
	char	   *cause;

	if (error == NULL)
		return false;
	/* first: args may point into *error */
	cause = sf_error_format(fmt, args);
	*error = sf_error_make(name, cause);
	error->needs_prefix = true;
	return false;
}

/* Fill an SfError with a name and a formatted cause. */
bool
sf_error_set(SfError *error, const char *name, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	sf_error_set_va(error, name, fmt, args);
	va_end(args);
	return false;
}

/*
 * Tell what becomes of an error name; States.Http.StatusCode.NNN stands for
 * any number.
 */
SfErrorUse
sf_error_use(const char *name)
{
#define SF_STATES_ERROR_MATCH(sym, str, use, meaning) \
	if (strcmp(name, str) == 0) \
		return SF_ERROR_##use;
	SF_STATES_ERROR_LIST(SF_STATES_ERROR_MATCH)
	if (strncmp(name, HTTP_STATUS_PREFIX, sizeof(HTTP_STATUS_PREFIX) - 1) == 0)
		return SF_ERROR_RAISED;
	return SF_ERROR_UNKNOWN;
}

/* --- running a function in a subtransaction, as PL/pgSQL's exec_stmt_block() does --- */

/*
 * Call work(arg) in a subtransaction.  If work returns true, the subtransaction is
 * committed.  If it returns false or raises an error, the subtransaction is rolled
 * back.  Returns the error, or NULL if there was none.  end(arg), unless end is NULL,
 * is called before the subtransaction ends, also after an error; end must not raise
 * an error.  The current memory context stays the same.
 */
ErrorData *
sf_subtransaction_run(bool (*work) (void *arg), void (*end) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;
	volatile bool keep = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		keep = work(arg);
		if (end != NULL)
			end(arg);
		if (keep)
			ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		keep = false;
		if (end != NULL)
			end(arg);
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (error->message == NULL)
			error->message = pstrdup("missing error text"); /* as the log has it */
	}
	PG_END_TRY();
	if (!keep)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* The same, but each lock that it waits for is to come within a time; else the error is ERRCODE_LOCK_NOT_AVAILABLE. */
ErrorData *
sf_subtransaction_run_within(int lock_ms, bool (*work) (void *arg), void *arg)
{
	int			level = sf_brief_locks_begin(lock_ms);
	ErrorData  *error = sf_subtransaction_run(work, NULL, arg);

	sf_brief_locks_end(level);
	return error;
}

/* --- locks that are waited for for a time --- */

/*
 * Have each lock come within a time from now on, else raise ERRCODE_LOCK_NOT_AVAILABLE.  The caller gives what this
 * returns to sf_brief_locks_end(); an error that ends the transaction, or a subtransaction that began since, ends it,
 * too.
 */
int
sf_brief_locks_begin(int lock_ms)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("lock_timeout", psprintf("%d", lock_ms), PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* End that. */
void
sf_brief_locks_end(int level)
{
	AtEOXact_GUC(false, level);
}

/* Do what waits for locks for a time; false: one has not come, and the caller has to raise an error for it. */
bool
sf_brief_locks_run(int lock_ms, void (*work) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	int			level = sf_brief_locks_begin(lock_ms);
	volatile bool came = true;

	PG_TRY();
	{
		work(arg);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		came = false;
	}
	PG_END_TRY();
	sf_brief_locks_end(level);
	return came;
}
