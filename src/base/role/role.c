/*
 * role.c
 *		Whether the login of the session is the one who calls, and whether a role could log in now.
 *
 * A session of the console and an access key stand for a role without asking for
 * its password again.  Both are worth no more than its log-in is at the moment.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "base/role/role.h"
#include "base/version/compat.h"

/* Does the session answer for a role just now, that is not the one that has logged in? */
static bool	relaying = false;

/*
 * Does the session answer for a role, as the connections of sfgateway do?  Its login then says nothing of who calls:
 * it is that of all for whom it answers.
 */
bool
sf_role_is_relayed(void)
{
	return relaying;
}

/* Say that the session answers for a role, or does so no more; returns what was said before. */
bool
sf_role_set_relayed(bool is_relayed)
{
	bool		before = relaying;

	relaying = is_relayed;
	return before;
}

/* Tell whether a role could log in to this database now, by what the catalogues say; false: it does not exist. */
bool
sf_role_may_log_in(Oid role)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
	bool		no_end;
	bool		can_login;
	Datum		end;

	if (!HeapTupleIsValid(tuple))
		return false;
	end = SysCacheGetAttr(AUTHOID, tuple, Anum_pg_authid_rolvaliduntil, &no_end);
	can_login = ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin &&
		(no_end || DatumGetTimestampTz(end) > GetCurrentTimestamp());
	ReleaseSysCache(tuple);
	return can_login && sf_database_aclcheck(MyDatabaseId, role, ACL_CONNECT) == ACLCHECK_OK;
}
