/*
 * access_key_functions.c
 *		Keys with which clients of the AWS API sign their requests.
 *
 * A signature is computed from the secret, so that it is stored as it is.  Only
 * sf_access_key() gives it out again; sfgateway's role is given EXECUTE on that
 * function and reads no table.
 *
 * A key is worth what the log-in of its role is: it is there and good for nothing
 * while the role could not log in.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/role/role.h"
#include "base/value/encoding.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "feature/access/access_key.h"
#include "store/role/privilege.h"

/* An id has the form of the service's: AKIA and sixteen characters of base32. */
#define ID_PREFIX		"AKIA"
#define ID_CHARACTERS	16

/* Thirty bytes are forty characters of base64, as the service's secrets have. */
#define SECRET_BYTES	30

/* Keys of one role: a few for each program, and two while one is exchanged */
#define MOST_OF_ROLE	10

/* Fill bytes with strong random ones. */
static void
draw(uint8 *bytes, size_t n)
{
	if (!pg_strong_random(bytes, n))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

/* Make the id of a new key. */
static char *
make_id(void)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	uint8		random[ID_CHARACTERS];
	char		text[ID_CHARACTERS + 1] = {0};

	draw(random, sizeof(random));
	for (int i = 0; i < ID_CHARACTERS; i++)
		text[i] = alphabet[random[i] % 32];
	return psprintf(ID_PREFIX "%s", text);
}

/* Make the secret of a new key. */
static char *
make_secret(void)
{
	uint8		random[SECRET_BYTES];

	draw(random, sizeof(random));
	return sf_base64_encode(random, sizeof(random));
}

/*
 * Refuse to make or drop a key where PostgreSQL refuses SET ROLE: a key is another way
 * to become its role, which code that runs for a caller must not take.
 */
static void
check_caller(const char *function)
{
	if (sf_role_is_bound())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("%s() cannot be called within a security-definer function or a task", function)));
}

/*
 * Tell whether the caller may act for a role.  It has the role's rights, could become it, or administers
 * it.
 */
static bool
acts_for(Oid role)
{
	return has_privs_of_role(GetUserId(), role) || SF_CAN_SET_ROLE(GetUserId(), role) ||
		is_admin_of_role(GetUserId(), role);
}

/* Refuse one key more than a role may have.  Of two that are made at the same time the second one waits here. */
static void
check_number(Oid role)
{
	LockSharedObject(AuthIdRelationId, role, 0, ShareUpdateExclusiveLock);
	if (sf_access_key_count_of(role) >= MOST_OF_ROLE)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("role \"%s\" has %d access keys already", GetUserNameFromId(role, false), MOST_OF_ROLE),
				 errhint("Drop those that are not used any more: sf_drop_access_key().")));
}

/* Say that a key is good for nothing as long as its role cannot log in. */
static void
warn_of_role(Oid role)
{
	if (!sf_role_may_log_in(role))
		ereport(WARNING,
				(errmsg("the access key is of no use before role \"%s\" can log in", GetUserNameFromId(role, false)),
				 errhint("The role needs LOGIN, a VALID UNTIL that has not passed, and CONNECT on the database.")));
}

/* sf_create_access_key(role): the id and the secret, which is not shown again. */
SF_SQL_FUNCTION(sfflow_sf_create_access_key)
{
	SfAccessKey key;
	SfColumns	row = {0};

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument role must not be null")));
	check_caller("sf_create_access_key");
	key.role = get_role_oid(NameStr(*PG_GETARG_NAME(0)), false);
	if (!SF_CAN_SET_ROLE(GetUserId(), key.role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to make an access key of role \"%s\"",
						NameStr(*PG_GETARG_NAME(0)))));
	check_number(key.role);
	key.access_key_id = make_id();
	key.secret = make_secret();
	key.created_at = GetCurrentTimestamp();
	key.created_by = GetUserNameFromId(GetUserId(), false);
	key.created_in = GetUserNameFromId(GetSessionUserId(), false);

	InitMaterializedSRF(fcinfo, 0);
	sf_privilege_anchor(key.role);
	sf_access_key_store(&key);
	warn_of_role(key.role);
	sf_columns_text(&row, key.access_key_id);
	sf_columns_text(&row, key.secret);
	sf_columns_put(fcinfo, &row);
	return (Datum) 0;
}

/* sf_drop_access_key(access_key_id). */
SF_SQL_FUNCTION(sfflow_sf_drop_access_key)
{
	char	   *id = sf_arg_text(fcinfo, 0, "access_key_id");
	SfAccessKey *key = sf_access_key_read(id);

	check_caller("sf_drop_access_key");
	if (key == NULL || !acts_for(key->role))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("access key \"%s\" does not exist", id),
				 errhint("The view sf_access_keys lists those that there are for you.")));
	sf_access_key_delete(id);
	sf_privilege_unanchor(key->role);
	PG_RETURN_VOID();
}

/*
 * sf_access_key(access_key_id): the role and the secret; no row when there is no such key, or its role cannot log
 * in.
 */
SF_SQL_FUNCTION(sfflow_sf_access_key)
{
	SfAccessKey *key = sf_access_key_read(sf_arg_text(fcinfo, 0, "access_key_id"));
	char	   *role = key == NULL ? NULL : GetUserNameFromId(key->role, true);
	SfColumns	row = {0};

	InitMaterializedSRF(fcinfo, 0);
	if (role == NULL || !sf_role_may_log_in(key->role))
		return (Datum) 0;
	sf_columns_add(&row, DirectFunctionCall1(namein, CStringGetDatum(role)), false);
	sf_columns_text(&row, key->secret);
	sf_columns_put(fcinfo, &row);
	return (Datum) 0;
}
