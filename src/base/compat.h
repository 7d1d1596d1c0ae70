/*
 * compat.h
 *		Check of PostgreSQL's version, and shims for differences between releases.
 *
 * All other code is written for one PostgreSQL.  Differences between releases are
 * handled here and nowhere else.
 */
#ifndef SF_BASE_COMPAT_H
#define SF_BASE_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "sfflow needs PostgreSQL 15 or later"
#endif

/* VARSIZE() and its like left postgres.h in 16 */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* EvalPlanQualInit() takes the result relations since 16 */
#if PG_VERSION_NUM >= 160000
#define SF_EPQ_EXTRA_ARG	, NIL
#else
#define SF_EPQ_EXTRA_ARG
#endif

/* ExecInsertIndexTuples() can leave all but summarizing indexes out since 16 */
#if PG_VERSION_NUM >= 160000
#define SF_INSERT_INDEX_EXTRA_ARG	, false
#else
#define SF_INSERT_INDEX_EXTRA_ARG
#endif

/* index_beginscan() counts for EXPLAIN since 18 */
#if PG_VERSION_NUM >= 180000
#define SF_INDEX_BEGINSCAN_EXTRA_ARG	, NULL
#else
#define SF_INDEX_BEGINSCAN_EXTRA_ARG
#endif

/* ExecCheckIndexConstraints() is told of the row itself since 18 */
#if PG_VERSION_NUM >= 180000
#define SF_CHECK_INDEX_EXTRA_ARG	, NULL
#else
#define SF_CHECK_INDEX_EXTRA_ARG
#endif

/*
 * common/jsonapi.h: since 16 the actions of a parse return an error code,
 * since 17 the lexer's context can be allocated by the caller.  Users include
 * common/jsonapi.h and mb/pg_wchar.h.
 */
#if PG_VERSION_NUM >= 160000
#define SF_JSON_ACTION_RESULT	JsonParseErrorType
#define SF_JSON_ACTION_RETURN	return JSON_SUCCESS
#else
#define SF_JSON_ACTION_RESULT	void
#define SF_JSON_ACTION_RETURN	return
#endif

#if PG_VERSION_NUM >= 170000
#define sf_json_lex_context(text, len) \
	makeJsonLexContextCstringLen(NULL, (text), (len), GetDatabaseEncoding(), true)
#else
#define sf_json_lex_context(text, len) \
	makeJsonLexContextCstringLen(unconstify(char *, (text)), (len), \
								 GetDatabaseEncoding(), true)
#endif

/* Find a setting by its name: a function since 16, a loop before.  Users include utils/guc_tables.h. */
#if PG_VERSION_NUM >= 160000
#define sf_find_setting(name)	find_option((name), false, false, ERROR)
#else
extern struct config_generic *sf_find_setting(const char *name);
#endif

/* What a check hook of a setting hands on: guc.c frees it since 16 */
#if PG_VERSION_NUM >= 160000
#define SF_GUC_MALLOC(size)	guc_malloc(LOG, size)
#else
#define SF_GUC_MALLOC(size)	malloc(size)
#endif

/* Local transaction id of this backend */
#if PG_VERSION_NUM >= 170000
#define SF_MY_LXID	(MyProc->vxid.lxid)
#else
#define SF_MY_LXID	(MyProc->lxid)
#endif

/* Names as in SQL text: "schema.function" to a list */
#if PG_VERSION_NUM >= 160000
#define sf_qualified_name_list(text)	stringToQualifiedNameList(text, NULL)
#else
#define sf_qualified_name_list(text)	stringToQualifiedNameList(text)
#endif

/* Check a right on a function or a schema; utils/acl.h. */
#if PG_VERSION_NUM >= 160000
#define sf_function_aclcheck(oid, role, mode) \
	object_aclcheck(ProcedureRelationId, oid, role, mode)
#define sf_schema_aclcheck(oid, role, mode) \
	object_aclcheck(NamespaceRelationId, oid, role, mode)
#define sf_database_aclcheck(oid, role, mode) \
	object_aclcheck(DatabaseRelationId, oid, role, mode)
#else
#define sf_function_aclcheck(oid, role, mode) pg_proc_aclcheck(oid, role, mode)
#define sf_schema_aclcheck(oid, role, mode) pg_namespace_aclcheck(oid, role, mode)
#define sf_database_aclcheck(oid, role, mode) pg_database_aclcheck(oid, role, mode)
#endif

/* May a role become another one?  A right of its own since 16; utils/acl.h. */
#if PG_VERSION_NUM >= 160000
#define SF_CAN_SET_ROLE(member, role)	member_can_set_role(member, role)
#else
#define SF_CAN_SET_ROLE(member, role)	is_member_of_role(member, role)
#endif

/* Number of this process's PGPROC: a field until 16, a variable since 17 */
#if PG_VERSION_NUM >= 170000
#define SF_MY_PROCNO	MyProcNumber
#else
#define SF_MY_PROCNO	(MyProc->pgprocno)
#endif

/* Ownership of a database: one function a kind of object until 15 */
#if PG_VERSION_NUM >= 160000
#define SF_OWNS_DATABASE(oid, role) \
	object_ownercheck(DatabaseRelationId, (oid), (role))
#else
#define SF_OWNS_DATABASE(oid, role)	pg_database_ownercheck((oid), (role))
#endif

/* Bytes of pg_b64_encode() and pg_b64_decode() are unsigned since 18 */
#if PG_VERSION_NUM >= 180000
#define SF_B64_SRC(p)	((const uint8 *) (p))
#define SF_B64_DST(p)	((uint8 *) (p))
#else
#define SF_B64_SRC(p)	(p)
#define SF_B64_DST(p)	(p)
#endif

/* Functions that do not return are marked in front since 18 */
#ifndef pg_attribute_noreturn
#define pg_attribute_noreturn() __attribute__((noreturn))
#endif

#endif							/* SF_BASE_COMPAT_H */
