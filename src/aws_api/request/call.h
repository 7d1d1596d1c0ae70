/*
 * call.h
 *		A call of the AWS API: the operation, what is asked for, and the answer.
 *
 * An operation reads the members of the request with sf_request_…, which were
 * checked before (members.h), and adds those of the answer to call->answer.
 */
#ifndef SF_AWS_API_CALL_H
#define SF_AWS_API_CALL_H

#include "api/objects.h"
#include "aws_api/request/refusals.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "json/json.h"
#include "store/state_machine/machine.h"

typedef struct SfCall SfCall;

/* An operation: its name, the members of its requests (operations.h), what answers it */
typedef struct SfOperation
{
	const char *action;
	const char *members;
	void		(*answer) (SfCall *call);
} SfOperation;

struct SfCall
{
	const SfOperation *operation;
	JsonbValue	request;		/* an object */
	const char *subject;		/* what errors name: an ARN or a name of the request */
	const char *missing;		/* not NULL: the title of ResourceNotFound, which a missing object is */
	bool		is_merged;		/* an entry of a list has the key of a page that ends with it (sf_answer_key) */
	SfJsonBuilder answer;
};

/* --- members.c --- */

extern void sf_request_check(SfCall *call);
extern char *sf_request_text(const SfCall *call, const char *member);
extern bool sf_request_flag(const SfCall *call, const char *member, bool if_absent);
extern int	sf_request_int(const SfCall *call, const char *member, int if_absent);
extern int	sf_request_max_results(const SfCall *call);
extern Jsonb *sf_request_document(const SfCall *call, const char *member);
extern Jsonb *sf_request_payload(const SfCall *call, const char *member, SfRefusal refusal);
extern const char *sf_request_id(SfCall *call, const char *member, SfNameKind kind);

/* --- members of answers --- */

extern void sf_answer_time(SfCall *call, const char *key, TimestampTz at);
extern void sf_answer_payload(SfCall *call, const char *key, const Jsonb *payload);
extern void sf_answer_arn(SfCall *call, const char *key, SfNameKind kind, const char *id);
extern void sf_answer_next(SfCall *call, const char *key);
extern void sf_answer_key(SfCall *call, const char *key);
extern char *sf_answer_token_key(SfCall *call);

/* --- state machines, versions and aliases that requests name by their ARNs --- */

/* What may follow the name of a machine in an ARN: a set */
typedef enum SfQualifiers
{
	SF_QUALIFIERS_NONE = 0,
	SF_QUALIFIERS_VERSION = 1 << 0,
	SF_QUALIFIERS_ALIAS = 1 << 1,
	SF_QUALIFIERS_ANY = SF_QUALIFIERS_VERSION | SF_QUALIFIERS_ALIAS
} SfQualifiers;

/* What an ARN names */
typedef enum SfAddressKind
{
	SF_ADDRESS_MACHINE,
	SF_ADDRESS_VERSION,
	SF_ADDRESS_ALIAS
} SfAddressKind;

/* A machine that an ARN names: sf_address_version and sf_address_alias read its qualifier */
typedef struct SfAddress
{
	SfMachine  *machine;		/* in its current version, without the definition */
	SfAddressKind kind;
	union
	{
		int			version;	/* VERSION */
		const char *alias;		/* ALIAS */
	};
} SfAddress;

/* The version that an address names, or SF_NO_VERSION. */
static inline int
sf_address_version(const SfAddress *address)
{
	return address->kind == SF_ADDRESS_VERSION ? address->version : SF_NO_VERSION;
}

/* The alias that an address names; NULL: none. */
static inline const char *
sf_address_alias(const SfAddress *address)
{
	return address->kind == SF_ADDRESS_ALIAS ? address->alias : NULL;
}

extern void sf_address_missing(const SfCall *call) pg_attribute_noreturn();
extern SfAddress sf_address_read(SfCall *call, const char *member, SfRight needed,
								 SfQualifiers allowed);
extern char *sf_address_qualified(const char *machine, const char *qualifier);
extern void sf_address_answer_version(SfCall *call, const char *key, const SfMachine *machine,
									 int version);
extern void sf_address_answer_qualifier(SfJsonBuilder *answer, const SfExecution *execution);
extern List *sf_address_page(SfCall *call, SfObjectKind kind, SfRight needed);

/* --- what the service keeps of a version beside its definition: the option "aws" --- */

extern Jsonb *sf_configuration_options(const SfCall *call, const SfMachine *before);
extern void sf_configuration_check_role(const SfCall *call);
extern void sf_configuration_check_encryption(const Jsonb *encryption);
extern bool sf_configuration_is_given(const SfCall *call);
extern bool sf_configuration_is_same(const Jsonb *a, const Jsonb *b);
extern const char *sf_configuration_type(const SfMachine *machine);
extern char *sf_configuration_revision(const SfMachine *machine);
extern void sf_configuration_answer_variables(SfCall *call, const char *definition);
extern List *sf_configuration_express_problems(const char *definition);
extern void sf_configuration_check_type(const SfMachine *machine);
extern void sf_configuration_answer(SfCall *call, const SfMachine *machine);

/* --- runs of Distributed Maps, by their ARNs --- */

extern SfMapRun *sf_mapped_run_read(SfCall *call, SfRight needed, SfExecution **execution);
extern void sf_mapped_answer_arn(SfCall *call, const SfExecution *execution);
extern void sf_mapped_answer_label(SfCall *call, const SfExecution *execution);

/* --- tags of state machines and activities --- */

extern Jsonb *sf_tags_read(const SfCall *call, const Jsonb *before);

#endif							/* SF_AWS_API_CALL_H */
