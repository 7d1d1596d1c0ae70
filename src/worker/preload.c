/*
 * preload.c
 *		What the worker layer installs when the library is preloaded.
 */
#include "postgres.h"

#include "store/instance.h"
#include "store/load_guard.h"
#include "worker/durations.h"
#include "worker/shared.h"
#include "worker/slot.h"
#include "worker/wake.h"
#include "worker/worker.h"

/* Make everything work in the background; from _PG_init while preloading. */
void
sf_worker_init(void)
{
	sf_area_init();
	sf_wake_init();
	sf_slot_init();
	sf_durations_init();
	sf_leave_init();
	sf_load_guard_init(sf_instance_stop);
	sf_launcher_init();
}
