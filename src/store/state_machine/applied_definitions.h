/*
 * applied_definitions.h
 *		Which revision of a document a role has applied last.
 */
#ifndef SF_STORE_APPLIED_DEFINITIONS_H
#define SF_STORE_APPLIED_DEFINITIONS_H

#include "json/json.h"

extern bool sf_applied_note(Oid role, const char *name, int64 revision, const Jsonb *document, int64 *newer);

#endif							/* SF_STORE_APPLIED_DEFINITIONS_H */
