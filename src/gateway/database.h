/*
 * database.h
 *		The gateway's own connections to the database.
 */
#ifndef SFG_DATABASE_H
#define SFG_DATABASE_H

#include "gateway/pool.h"

extern SfgPool sfg_api_pool;
extern SfgPool sfg_keys_pool;
extern SfgPool sfg_sync_pool;
extern SfgPool sfg_metrics_pool;
extern SfgPool sfg_changes_pool;

extern void sfg_database_start(void);
extern bool sfg_database_is_ready(void);
extern void sfg_database_stop(void);

#endif							/* SFG_DATABASE_H */
