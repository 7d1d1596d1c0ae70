/*
 * layout.c
 *		The steps of a layout, in a memory context of their own.
 */
#include "postgres.h"

#include "graph/layout_work.h"
#include "utils/memutils.h"

/*
 * Find places for boxes, lines and labels.  The results are allocated in the
 * current context; what the steps need is gone at the end.
 */
void
sf_layout_make(SfLayout *layout)
{
	SfLayoutWork work = {.layout = layout};
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "sfflow layout",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext result = MemoryContextSwitchTo(scratch);

	sf_layout_rows(&work);
	sf_layout_order(&work);
	sf_layout_columns(&work);
	MemoryContextSwitchTo(result);
	sf_layout_routes(&work);
	MemoryContextDelete(scratch);
}
