/*
 * uuid.h
 *		Identifiers that nobody else makes.
 */
#ifndef SF_BASE_UUID_H
#define SF_BASE_UUID_H

/* A UUID of version 7 as text: its first 48 bits are the time in milliseconds. */
extern char *sf_uuid_v7(void);

#endif							/* SF_BASE_UUID_H */
