/*
 * subtransaction.c
 *		Running a function in a subtransaction, as PL/pgSQL's
 *		exec_stmt_block() does.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "base/subtransaction.h"

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
	}
	PG_END_TRY();
	if (!keep)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}
