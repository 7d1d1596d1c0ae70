/*
 * tags.h
 *		Tags of state machines and activities.
 */
#ifndef SF_AWSAPI_TAGS_H
#define SF_AWSAPI_TAGS_H

#include "awsapi/call.h"

extern Jsonb *sf_tags_read(const SfCall *call, const Jsonb *before);

#endif							/* SF_AWSAPI_TAGS_H */
