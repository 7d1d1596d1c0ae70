/*
 * configuration.h
 *		What the service keeps of a version beside its definition: the option "aws".
 */
#ifndef SF_AWSAPI_CONFIGURATION_H
#define SF_AWSAPI_CONFIGURATION_H

#include "awsapi/call.h"
#include "store/machine.h"

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

#endif							/* SF_AWSAPI_CONFIGURATION_H */
