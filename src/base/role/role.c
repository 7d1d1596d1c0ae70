/*
 * role.c
 *		Whether a role could log in now.
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
