/*
 * dynamodb_functions.c
 *		sf_dynamodb_condition() and its kin: DynamoDB's expressions by themselves.
 *
 * The handlers that sf_aws_install() makes are written with them.  An
 * expression that is malformed, or does not fit the item, raises SF014 with
 * the text of the service's ValidationException.
 */
#include "postgres.h"

#include "api/sql_arguments.h"
#include "base/errors.h"
#include "aws/dynamodb.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(sfflow_sf_dynamodb_condition);
PG_FUNCTION_INFO_V1(sfflow_sf_dynamodb_key);
PG_FUNCTION_INFO_V1(sfflow_sf_dynamodb_update);
PG_FUNCTION_INFO_V1(sfflow_sf_dynamodb_project);

/* Fetch the expression, its names (argument n) and its values (n + 1). */
static SfDynamodb
get_expression(FunctionCallInfo fcinfo, const char *field, int n)
{
	return (SfDynamodb)
	{
		.field = field,
		.text = sf_arg_text(fcinfo, 0, "expression"),
		.names = sf_arg_jsonb_or_null(fcinfo, n),
		.values = n + 1 < PG_NARGS() ? sf_arg_jsonb_or_null(fcinfo, n + 1) : NULL
	};
}

/* Fetch the argument that is an item. */
static Jsonb *
get_item(FunctionCallInfo fcinfo)
{
	Jsonb	   *item = sf_arg_jsonb(fcinfo, 1, "item");

	if (!JB_ROOT_IS_OBJECT(item))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument item must be an object")));
	return item;
}

/* sf_dynamodb_condition(expression, item, names, values, field) */
Datum
sfflow_sf_dynamodb_condition(PG_FUNCTION_ARGS)
{
	SfDynamodb	x = get_expression(fcinfo, sf_arg_text(fcinfo, 4, "field"), 2);

	PG_RETURN_BOOL(sf_dynamodb_condition(&x, get_item(fcinfo)));
}

/* sf_dynamodb_key(expression, names, values) */
Datum
sfflow_sf_dynamodb_key(PG_FUNCTION_ARGS)
{
	SfDynamodb	x = get_expression(fcinfo, "KeyConditionExpression", 1);

	PG_RETURN_JSONB_P(sf_dynamodb_key(&x));
}

/* sf_dynamodb_update(expression, item, names, values) */
Datum
sfflow_sf_dynamodb_update(PG_FUNCTION_ARGS)
{
	SfDynamodb	x = get_expression(fcinfo, "UpdateExpression", 2);

	PG_RETURN_JSONB_P(sf_dynamodb_update(&x, get_item(fcinfo)));
}

/* sf_dynamodb_project(expression, item, names) */
Datum
sfflow_sf_dynamodb_project(PG_FUNCTION_ARGS)
{
	SfDynamodb	x = get_expression(fcinfo, "ProjectionExpression", 2);

	PG_RETURN_JSONB_P(sf_dynamodb_project(&x, get_item(fcinfo)));
}
