/*
 * access_key_lookup.c
 *		Access keys, of the settings and of the database.
 *
 * A key that was found in the database is cached for CACHE_TIME milliseconds, so that
 * most requests need no look-up; one that is dropped is good for so long.  With
 * it goes what was derived from its secret.
 */
#include "postgres_fe.h"

#include "tools/client/log.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"

#define CACHE_TIME 5000
#define MOST_CACHED 64

/* A key that was found */
typedef struct CachedKey
{
	char	   *id;				/* NULL: the entry is free */
	char	   *role;
	SfgSecret	secret;
	int64_t		until;
} CachedKey;

static CachedKey cached[MOST_CACHED];

/* Free an entry. */
static void
forget(CachedKey *key)
{
	if (key->id == NULL)
		return;
	explicit_bzero(key->secret.text, strlen(key->secret.text));
	free(key->secret.text);
	free(key->id);
	free(key->role);
	explicit_bzero(key, sizeof(*key));
}

/* Find a key that is cached, or NULL; forget those that were for long enough. */
static CachedKey *
find_cached(const char *id)
{
	CachedKey  *found = NULL;
	int64_t		now = sfc_now();

	for (CachedKey *key = cached; key < cached + MOST_CACHED; key++)
	{
		if (key->until <= now)
			forget(key);
		else if (strcmp(key->id, id) == 0)
			found = key;
	}
	return found;
}

/* Cache a key, and give it, in the entry of the one that is cached for the shortest time. */
static CachedKey *
remember(const char *id, const char *role, const char *secret)
{
	CachedKey  *entry = &cached[0];

	for (CachedKey *key = cached; key < cached + MOST_CACHED; key++)
	{
		if (key->until < entry->until)
			entry = key;
	}
	forget(entry);
	*entry = (CachedKey) {
		.id = pg_strdup(id), .role = pg_strdup(role), .secret.text = pg_strdup(secret), .until = sfc_now() + CACHE_TIME
	};
	return entry;
}

/* Find a key of the settings, or NULL. */
static SfgFileAccessKey *
find_own(const char *id)
{
	SfgFileAccessKey *own = sfg_config.keys;

	while (own != NULL && strcmp(own->id, id) != 0)
		own = own->next;
	return own;
}

#define LOOK_UP "SELECT k.role, k.secret_access_key, $1 FROM @.sf_access_key($1::pg_catalog.text) AS k"

/* Cache the key that a look-up has found; *known tells whether the database has said so or not. */
static CachedKey *
read_answer(const PGresult *result, bool *known)
{
	*known = result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK;
	if (sfg_call_has_value(result))
		return remember(PQgetvalue(result, 0, 2), PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1));
	if (!*known)
		sfc_log(SFC_LOG_WARNING, "cannot look an access key up, may the gateway's role execute sf_access_key()?",
				"reason", result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : "no connection", NULL);
	return NULL;
}

/* The database has answered. */
static void
looked_up(const PGresult *result, void *arg)
{
	SfgRequest *request = arg;
	bool		known;
	CachedKey  *key = read_answer(result, &known);

	request->gone = NULL;
	if (known)
		request->key_user->found(request, key != NULL ? key->role : NULL, key != NULL ? &key->secret : NULL);
	else
		request->key_user->failed(request, result);
}

/* Find a key by its id. */
void
sfg_access_key_find(SfgRequest *request, const char *id, const SfgAccessKeyUser *user)
{
	CachedKey  *key = find_cached(id);
	SfgFileAccessKey *own = find_own(id);

	request->key_user = user;
	if (own != NULL)
		user->found(request, own->role, &own->secret);
	else if (key != NULL)
		user->found(request, key->role, &key->secret);
	else
		sfg_call_make(request, &sfg_keys_pool, LOOK_UP, 1, &id, looked_up);
}

/* Tell whether a key need not be looked up again now. */
bool
sfg_access_key_is_known(const char *id)
{
	return find_own(id) != NULL || find_cached(id) != NULL;
}

/* Look a key up again, for one who has used it before; NULL: the queue is full. */
SfgCall *
sfg_access_key_ask(const char *id, SfcDbDone done, void *arg)
{
	return sfg_pool_call(&sfg_keys_pool, LOOK_UP, 1, &id, done, arg);
}

/* Read what sfg_access_key_ask() was answered. */
SfgAccessKeyStatus
sfg_access_key_status(const PGresult *result)
{
	bool		known;

	if (read_answer(result, &known) != NULL)
		return SFG_ACCESS_KEY_GOOD;
	return known ? SFG_ACCESS_KEY_GONE : SFG_ACCESS_KEY_UNKNOWN;
}
