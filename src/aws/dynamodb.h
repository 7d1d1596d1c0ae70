/*
 * dynamodb.h
 *		Expressions of DynamoDB over items in its typed JSON.
 *
 * An item is an object of attributes, an attribute an object of one member
 * whose key is its type: {"id": {"S": "a"}, "n": {"N": "1.5"}}.  names and
 * values are ExpressionAttributeNames and ExpressionAttributeValues; NULL:
 * none.  All functions raise SF014 with the text of the service's
 * ValidationException when an expression is malformed or does not fit the item.
 */
#ifndef SF_AWS_DYNAMODB_H
#define SF_AWS_DYNAMODB_H

#include "nodes/pg_list.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "json/json.h"

typedef struct SfDynamodb
{
	const char *field;			/* "ConditionExpression", for messages */
	const char *text;
	const Jsonb *names;
	const Jsonb *values;
} SfDynamodb;

extern bool sf_dynamodb_condition(const SfDynamodb *dynamodb, const Jsonb *item);
extern Jsonb *sf_dynamodb_key(const SfDynamodb *dynamodb);
extern Jsonb *sf_dynamodb_project(const SfDynamodb *dynamodb, const Jsonb *item);

/* --- between the files of this module --- */

typedef enum SfDynamodbOp
{
	/* conditions */
	SF_DDB_AND, SF_DDB_OR, SF_DDB_NOT,
	SF_DDB_EQ, SF_DDB_NE, SF_DDB_LT, SF_DDB_LE, SF_DDB_GT, SF_DDB_GE,
	SF_DDB_BETWEEN, SF_DDB_IN,
	SF_DDB_ATTRIBUTE_EXISTS, SF_DDB_ATTRIBUTE_NOT_EXISTS,
	SF_DDB_ATTRIBUTE_TYPE, SF_DDB_BEGINS_WITH, SF_DDB_CONTAINS,
	/* operands */
	SF_DDB_PATH, SF_DDB_VALUE, SF_DDB_SIZE,
	SF_DDB_IF_NOT_EXISTS, SF_DDB_LIST_APPEND, SF_DDB_PLUS, SF_DDB_MINUS,
	/* actions of an update: args are the path and, but for REMOVE, an operand */
	SF_DDB_SET, SF_DDB_REMOVE, SF_DDB_ADD, SF_DDB_DELETE
} SfDynamodbOp;

/* A step of a document path: an attribute's name, or an index into a list */
typedef struct SfDynamodbPathStep
{
	const char *name;			/* NULL: index */
	int			index;
} SfDynamodbPathStep;

typedef struct SfDynamodbNode
{
	SfDynamodbOp op;
	List	   *args;			/* SfDynamodbNode */
	List	   *path;			/* PATH: SfDynamodbPathStep */
	Jsonb	   *value;			/* VALUE: typed */
} SfDynamodbNode;

extern SfDynamodbNode *sf_dynamodb_parse_condition(const SfDynamodb *dynamodb);
extern List *sf_dynamodb_parse_update(const SfDynamodb *dynamodb);
extern List *sf_dynamodb_parse_paths(const SfDynamodb *dynamodb);
extern Jsonb *sf_dynamodb_operand(const SfDynamodbNode *node, const Jsonb *item);
extern bool sf_dynamodb_type(const Jsonb *value, const char **type, JsonbValue *inner);
extern Jsonb *sf_dynamodb_typed(const char *type, const Jsonb *inner);
extern bool sf_dynamodb_is_set(const char *type);
extern void sf_dynamodb_fail(const char *fmt,...) pg_attribute_printf(1, 2) pg_attribute_noreturn();
extern Datum sf_dynamodb_number(const JsonbValue *value);
extern bool sf_dynamodb_set_contains(const JsonbValue *set, const char *type,
									 const JsonbValue *element);

#endif							/* SF_AWS_DYNAMODB_H */
