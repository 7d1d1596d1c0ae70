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
 * Call work(arg) in a subtransaction, in the current memory context, which is
 * also current afterwards.  True keeps what it did; false rolls it back, and
 * so does an error, which is returned (else NULL).  end(arg), unless it is
 * NULL, is called last in the subtransaction, also after an error; it raises
 * none itself.
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
