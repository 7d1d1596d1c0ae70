/*
 * uuid.h
 *		UUIDs as text in the current memory context.
 */
#ifndef SF_BASE_UUID_H
#define SF_BASE_UUID_H

extern char *sf_uuid_v4(void);
extern char *sf_uuid_v7(void);

#endif							/* SF_BASE_UUID_H */
