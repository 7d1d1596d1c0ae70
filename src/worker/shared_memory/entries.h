/*
 * entries.h
 *		Fixed tables whose entries owners share.
 */
#ifndef SF_WORKER_ENTRIES_H
#define SF_WORKER_ENTRIES_H

extern bool sf_entries_find_giver(Oid *owners, int n, Oid asking, Oid *giver);

#endif							/* SF_WORKER_ENTRIES_H */
