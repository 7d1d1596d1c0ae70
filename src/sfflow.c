/*
 * sfflow.c
 *		Entry point of the library.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/settings.h"
#include "fmgr.h"
#include "task/task.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

/*
 * Set the library up when it is loaded.
 */
void
_PG_init(void)
{
	sf_settings_define();
	sf_task_init();
}
