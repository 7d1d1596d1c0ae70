/*
 * changes.h
 *		Telling pages of the console that something has changed.
 */
#ifndef SFG_CHANGES_H
#define SFG_CHANGES_H

#include "gateway/http_request.h"

extern void sfg_changes_note(void);
extern void sfg_changes_heard(void);
extern void sfg_console_poll(SfgRequest *request);
extern void sfg_changes_drain(void);

#endif							/* SFG_CHANGES_H */
