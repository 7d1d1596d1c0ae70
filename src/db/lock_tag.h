/*
 * lock_tag.h
 *		Tags of locks that are of no row.
 */
#ifndef SF_DB_LOCK_TAG_H
#define SF_DB_LOCK_TAG_H

#include "miscadmin.h"
#include "storage/lock.h"

#include "db/table.h"

/*
 * They are advisory locks.  What they are of is in the fourth field, which has 1 or 2 in those that SQL takes, so that
 * none of these is one of them:
 *
 *	OF_RETRIES	tries of tasks of an owner after a deadlock (sql_task/runner.c)
 *	OF_TABLE	what a table of sfflow has a number of, or its only one (sf_lock_tag)
 *	OF_KIND		all objects of a kind (db/object_lock.c)
 *	OF_LIMIT	a bit: slots of limits, whose tags have more in this field (feature/limit/limit_slot_lock.c)
 *
 * Others are of a text, and of a number that belongs to it (sf_lock_tag_of_text):
 *
 *	OF_NAME		an object, by its kind and its name (store/role/named_lock.c)
 *	OF_EVENT_KEY	a key of events, by the number of their type (feature/event/event_key_lock.c)
 *	OF_EXECUTION_KEY	a key of executions (feature/home/home_row.c)
 */
#define SF_LOCK_OF_RETRIES	3
#define SF_LOCK_OF_TABLE	4
#define SF_LOCK_OF_NAME		5
#define SF_LOCK_OF_EVENT_KEY	6
#define SF_LOCK_OF_EXECUTION_KEY	7
#define SF_LOCK_OF_KIND		8
#define SF_LOCK_OF_LIMIT	0x8000

/* The tag of the lock of what has a number among what is of a table. */
static inline LOCKTAG
sf_lock_tag(const char *table, uint32 number)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, sf_db_relation(table), number, SF_LOCK_OF_TABLE);
	return tag;
}

extern LOCKTAG sf_lock_tag_of_text(uint16 of, uint32 number, const char *text);

/* The tag of the lock of all objects of a kind. */
static inline LOCKTAG
sf_lock_tag_of_kind(char kind)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) kind, 0, SF_LOCK_OF_KIND);
	return tag;
}

#endif							/* SF_DB_LOCK_TAG_H */
