/*
 * hooks.c
 *		Storage of the pointers declared in hooks.h.
 */
#include "postgres.h"

#include "base/hooks.h"

SfDueHook	sf_due_hook = NULL;
SfCancelHook sf_cancel_hook = NULL;
SfCancelHook sf_cancel_now_hook = NULL;
SfHeldHook	sf_held_hook = NULL;
SfEndedHook sf_ended_hook = NULL;
SfFailedHook sf_failed_hook = NULL;
SfRunningHook sf_running_hook = NULL;
SfCancelRequestedHook sf_cancel_requested_hook = NULL;
SfDeadlineHook sf_deadline_hook = NULL;
SfTaskTimeHook sf_task_time_hook = NULL;
SfNoteTaskTimeHook sf_note_task_time_hook = NULL;
SfRegisterHook sf_register_hook = NULL;
