/*
 * places.h
 *		Fixed tables whose places owners share.
 */
#ifndef SF_WORKER_PLACES_H
#define SF_WORKER_PLACES_H

extern bool sf_places_giver(Oid *owners, int n, Oid asking, Oid *giver);

#endif							/* SF_WORKER_PLACES_H */
