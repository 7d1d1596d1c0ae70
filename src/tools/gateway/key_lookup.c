/*
 * key_lookup.c
 *		Access keys, of the settings and of the database.
 *
 * A key that was found in the database is kept for KEEP milliseconds, so that
 * most requests need no look-up; one that is dropped is good for so long.  With
 * it goes what was derived from its secret.
 */
#include "postgres_fe.h"

#include "tools/client/log.h"
#include "tools/gateway/aws_api.h"
#include "tools/gateway/call_error.h"
#include "tools/gateway/database.h"
#include "tools/gateway/gateway_config.h"

#define KEEP 5000
#define MOST_KEPT 64

/* A key that was found */
typedef struct Kept
{
	char	   *id;				/* NULL: the place is free */
	char	   *role;
	SfgSecret	secret;
	int64_t		until;
} Kept;

static Kept kept[MOST_KEPT];

/* Free a place. */
static void
forget(Kept *key)
{
	if (key->id == NULL)
		return;
	explicit_bzero(key->secret.text, strlen(key->secret.text));
	free(key->secret.text);
	free(key->id);
	free(key->role);
	explicit_bzero(key, sizeof(*key));
}

/* Find a key that is kept, or NULL; forget those that were kept for long enough. */
static Kept *
find_kept(const char *id)
{
	Kept	   *found = NULL;
	int64_t		now = sfw_now();

	for (Kept *key = kept; key < kept + MOST_KEPT; key++)
	{
		if (key->until <= now)
			forget(key);
		else if (strcmp(key->id, id) == 0)
			found = key;
	}
	return found;
}

/* Keep a key, and give it, in the place of the one that is kept for the shortest time. */
static Kept *
keep(const char *id, const char *role, const char *secret)
{
	Kept	   *place = &kept[0];

	for (Kept *key = kept; key < kept + MOST_KEPT; key++)
	{
		if (key->until < place->until)
			place = key;
	}
	forget(place);
	*place = (Kept) {
		.id = pg_strdup(id), .role = pg_strdup(role), .secret.text = pg_strdup(secret), .until = sfw_now() + KEEP
	};
	return place;
}

/* Find a key of the settings, or NULL. */
static SfgFileKey *
find_own(const char *id)
{
	SfgFileKey *own = sfg_config.keys;

	while (own != NULL && strcmp(own->id, id) != 0)
		own = own->next;
	return own;
}

#define LOOK_UP "SELECT k.role, k.secret_access_key, $1 FROM @.sf_access_key($1::pg_catalog.text) AS k"

/* Keep the key that a look-up has found; *known tells whether the database has said so or not. */
static Kept *
read_answer(const PGresult *result, bool *known)
{
	*known = result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK;
	if (sfg_call_has_value(result))
		return keep(PQgetvalue(result, 0, 2), PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1));
	if (!*known)
		sfw_log(SFW_WARNING, "cannot look an access key up, may the gateway's role execute sf_access_key()?",
				"reason", result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : "no connection", NULL);
	return NULL;
}

/* The database has answered. */
static void
looked_up(const PGresult *result, void *arg)
{
	SfgRequest *request = arg;
	bool		known;
	Kept	   *key = read_answer(result, &known);

	request->gone = NULL;
	if (known)
		request->key_user->found(request, key != NULL ? key->role : NULL, key != NULL ? &key->secret : NULL);
	else
		request->key_user->failed(request, result);
}

/* Find a key by its id. */
void
sfg_access_key_find(SfgRequest *request, const char *id, const SfgKeyUser *user)
{
	Kept	   *key = find_kept(id);
	SfgFileKey *own = find_own(id);

	request->key_user = user;
	if (own != NULL)
		user->found(request, own->role, &own->secret);
	else if (key != NULL)
		user->found(request, key->role, &key->secret);
	else
		sfg_request_call(request, &sfg_keys_pool, LOOK_UP, 1, &id, looked_up);
}

/* Tell whether a key need not be looked up again now. */
bool
sfg_access_key_is_known(const char *id)
{
	return find_own(id) != NULL || find_kept(id) != NULL;
}

/* Look a key up again, for one who has used it before; NULL: the queue is full. */
SfgCall *
sfg_access_key_ask(const char *id, SfwDbDone done, void *arg)
{
	return sfg_pool_call(&sfg_keys_pool, LOOK_UP, 1, &id, done, arg);
}

/* Read what sfg_access_key_ask() was answered. */
SfgKeyState
sfg_access_key_state(const PGresult *result)
{
	bool		known;

	if (read_answer(result, &known) != NULL)
		return SFG_KEY_GOOD;
	return known ? SFG_KEY_GONE : SFG_KEY_UNKNOWN;
}
