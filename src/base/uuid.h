/*
 * uuid.h
 *		UUIDs as text in the current memory context.
 */
#ifndef SF_BASE_UUID_H
#define SF_BASE_UUID_H

/* Make a random UUID (version 4). */
extern char *sf_uuid_v4(void);

/* Make a UUID whose first 48 bits are the time in milliseconds (version 7). */
extern char *sf_uuid_v7(void);

#endif							/* SF_BASE_UUID_H */
