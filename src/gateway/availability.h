/*
 * availability.h
 *		Whether the database is there.
 */
#ifndef SFG_AVAILABILITY_H
#define SFG_AVAILABILITY_H

#include "gateway/pool.h"

extern void sfg_availability_watch(SfgPool *pool);
extern bool sfg_availability_is_lost(void);
extern void sfg_availability_is_back(void);
extern int64_t sfg_availability_lost_at(void);
extern const char *sfg_availability_down_since(void);
extern void sfg_availability_probe(SfwDbDone done, void *arg);

#endif							/* SFG_AVAILABILITY_H */
