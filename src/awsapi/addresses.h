/*
 * addresses.h
 *		State machines, versions and aliases that requests name by their ARNs.
 */
#ifndef SF_AWSAPI_ADDRESSES_H
#define SF_AWSAPI_ADDRESSES_H

#include "api/objects.h"
#include "awsapi/call.h"

/* What follows the name of a machine in an ARN */
typedef enum SfQualifier
{
	SF_QUALIFIER_NONE,
	SF_QUALIFIER_VERSION = 1,
	SF_QUALIFIER_ALIAS = 2
} SfQualifier;

typedef struct SfAddress
{
	SfMachine  *machine;		/* in its current version, without the definition */
	SfQualifier qualifier;
	int			version;		/* that the ARN names; else 0 */
	const char *alias;			/* that it names; else NULL */
} SfAddress;

extern SfAddress sf_address_read(SfCall *call, const char *member, SfPrivilege needed, int allowed);
extern char *sf_address_qualified(const char *machine, const char *qualifier);
extern void sf_address_answer_version(SfCall *call, const char *key, const SfMachine *machine,
									 int version);
extern void sf_address_answer_qualifier(SfJsonBuilder *answer, const SfExecution *execution);
extern List *sf_address_page(SfCall *call, char kind, SfPrivilege needed);

#endif							/* SF_AWSAPI_ADDRESSES_H */
