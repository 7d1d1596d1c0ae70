/*
 * node_list.c
 *		ListExecutions of a state machine over all nodes.
 *
 * All nodes are asked for the page at the same time.  Their entries come in one order, that of their keys: the time,
 * and the number of the execution.  The page has the first ones of all; its token names the last one, and is good for
 * all nodes, since it says no more than where to go on.
 *
 * The answer has no room for a node that is missing.  It stands in the log and in the header x-sfflow-missing-nodes.
 * Definitions are the coordinator's: its error is that of the request, and a node that does not have the state machine
 * has no executions of it.
 */
#include "postgres_fe.h"

#include <openssl/evp.h>

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/client/sqlstate.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

/* Entries of a page when a request does not say how many */
#define DEFAULT_LIMIT	100

/* The entries of a page: key, the entry, its ARN, and whether more are behind the page */
#define LIST \
	"SELECT e.value OPERATOR(pg_catalog.->>) 'pageKey', (e.value OPERATOR(pg_catalog.-) 'pageKey')::pg_catalog.text," \
	" e.value OPERATOR(pg_catalog.->>) 'executionArn', a.a OPERATOR(pg_catalog.?) 'nextToken'" \
	" FROM (SELECT @.sf_aws_list_as($1::pg_catalog.name, $2::pg_catalog.jsonb) OFFSET 0) AS a(a)" \
	" CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(a.a OPERATOR(pg_catalog.->) 'executions')" \
	" WITH ORDINALITY AS e(value, position) ORDER BY e.position"

/* Characters of a key before the time: a hash of the request */
#define HASH_LENGTH	16

/* An entry of the list of a node */
typedef struct Entry
{
	long long	at;
	long long	number;
	char	   *key;
	char	   *text;
} Entry;

/* What a node has */
typedef struct Page
{
	Entry	   *entries;
	int			n;
	int			next;			/* of the entries: the first that is not in the answer */
	bool		has_more;
} Page;

/* A request whose nodes are asked */
typedef struct List
{
	SfgFan		fan;			/* the first member */
	SfgRequest *request;
	int			limit;
	uint64		missing;
	SfgAwsError refused;		/* the error of the coordinator */
	Page		pages[SFG_MOST_NODES];
} List;

/* Forget a request. */
static void
free_list(List *list)
{
	list->request->gone = NULL;
	sfg_fan_forget(&list->fan);
	sfg_aws_error_free(&list->refused);
	for (int node_index = 0; node_index < SFG_MOST_NODES; node_index++)
	{
		Page	   *page = &list->pages[node_index];

		for (int i = 0; i < page->n; i++)
		{
			free(page->entries[i].key);
			free(page->entries[i].text);
		}
		free(page->entries);
	}
	free(list);
}

/* The client has left, or waited too long. */
static void
gone(SfgRequest *request)
{
	free_list(request->route_data);
}

/* Find the page whose next entry is the newest; NULL: none has one. */
static Page *
newest(List *list)
{
	Page	   *best = NULL;

	for (int node_index = 0; node_index < SFG_MOST_NODES; node_index++)
	{
		Page	   *page = &list->pages[node_index];
		const Entry *a = page->next < page->n ? &page->entries[page->next] : NULL;
		const Entry *b = best != NULL ? &best->entries[best->next] : NULL;

		if (a != NULL && (b == NULL || a->at > b->at || (a->at == b->at && a->number > b->number)))
			best = page;
	}
	return best;
}

/* Tell whether a node has entries behind the answer. */
static bool
has_more(List *list)
{
	for (int node_index = 0; node_index < SFG_MOST_NODES; node_index++)
		if (list->pages[node_index].has_more)
			return true;
	return newest(list) != NULL;
}

/* Append the token of the next page, which begins behind an entry. */
static void
put_token(PQExpBuffer json, const char *key)
{
	size_t		len = strlen(key);
	char	   *token = pg_malloc(len * 2 + 5);

	EVP_EncodeBlock((unsigned char *) token, (const unsigned char *) key, (int) len);
	sfc_json_put_key(json, "nextToken");
	sfc_json_put_string(json, token);
	free(token);
}

/* Write the names of the nodes that are missing, and log them. */
static void
name_missing(const List *list, PQExpBuffer names)
{
	initPQExpBuffer(names);
	sfg_nodes_put(names, list->missing, false);
	sfc_log(SFC_LOG_WARNING, "a list lacks nodes", "id", list->request->id, "nodes", sfc_buffer_data(names), NULL);
}

/* Answer with the page of all. */
static void
answer_page(List *list)
{
	SfgRequest *request = list->request;
	PQExpBufferData json;
	PQExpBufferData names;
	const char *key = NULL;
	Page	   *page;

	initPQExpBuffer(&json);
	appendPQExpBufferStr(&json, "{\"executions\":[");
	for (int i = 0; i < list->limit && (page = newest(list)) != NULL; i++)
	{
		const Entry *entry = &page->entries[page->next++];

		appendPQExpBuffer(&json, "%s%s", i > 0 ? "," : "", entry->text);
		key = entry->key;
	}
	appendPQExpBufferChar(&json, ']');
	if (key != NULL && has_more(list))
		put_token(&json, key);
	appendPQExpBufferChar(&json, '}');
	sfg_answer(request, MHD_HTTP_OK, "application/x-amz-json-1.0", sfc_buffer_data(&json), json.len);
	sfg_answer_header(request, "x-amzn-RequestId", request->id);
	if (list->missing != 0)
	{
		name_missing(list, &names);
		sfg_answer_header(request, "x-sfflow-missing-nodes", names.data);
		termPQExpBuffer(&names);
	}
	sfg_answer_send(request);
	termPQExpBuffer(&json);
	free_list(list);
}

/* All nodes have answered, as far as they do. */
static void
nodes_done(SfgFan *fan)
{
	List	   *list = (List *) fan;
	SfgRequest *request = list->request;
	SfgAwsError refused = list->refused;
	PQExpBufferData names;

	if (refused.status == 0 && list->missing != sfg_nodes_all())
	{
		answer_page(list);
		return;
	}
	list->refused = (SfgAwsError) {.status = 0};
	if (refused.status != 0)
		sfg_aws_error_answer(request, &refused);
	else
	{
		name_missing(list, &names);
		sfg_aws_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException", "no node has answered");
		termPQExpBuffer(&names);
	}
	sfg_aws_error_free(&refused);
	free_list(list);
}

/* Keep the entries of a node. */
static void
read_page(Page *page, int node_index, const PGresult *result)
{
	page->n = PQntuples(result);
	page->entries = pg_malloc0(sizeof(Entry) * (size_t) Max(page->n, 1));
	for (int i = 0; i < page->n; i++)
	{
		Entry	   *entry = &page->entries[i];

		entry->key = pg_strdup(PQgetvalue(result, i, 0));
		entry->text = pg_strdup(PQgetvalue(result, i, 1));
		if (strlen(entry->key) > HASH_LENGTH)
			(void) sscanf(entry->key + HASH_LENGTH, "%lld.%lld", &entry->at, &entry->number);
		page->has_more = *PQgetvalue(result, i, 3) == 't';
		sfg_node_cache_note(PQgetvalue(result, i, 2), (size_t) PQgetlength(result, i, 2), node_index);
	}
}

/* Keep the error of a node. */
static void
keep_error(List *list, int node_index, const PGresult *result)
{
	if (node_index == SFG_HERE && !sfg_aws_is_down(result))
		list->refused = sfg_aws_error_read(result);
	else if (node_index == SFG_HERE || !sfc_sqlstate_is(sfc_sqlstate(result), SFC_SQLSTATE(STATE_MACHINE_DOES_NOT_EXIST)))
	{
		list->missing |= SFG_NODE_BIT(node_index);
		sfg_node_log_error(list->request, node_index, "a node cannot answer", result);
	}
}

/* A node has answered, or not (NULL). */
static void
node_answered(SfgFan *fan, int node_index, const PGresult *result)
{
	List	   *list = (List *) fan;

	if (result == NULL)
		list->missing |= SFG_NODE_BIT(node_index);
	else if (PQresultStatus(result) == PGRES_TUPLES_OK)
		read_page(&list->pages[node_index], node_index, result);
	else
		keep_error(list, node_index, result);
}

/* Read how many entries a page may have. */
static int
read_limit(SfcJson body)
{
	SfcJson		value;
	int			limit = 0;

	if (sfc_json_get(body, "maxResults", &value) && sfc_json_type(value) == '0')
	{
		char	   *text = pnstrdup(value.text, value.len);

		limit = atoi(text);
		free(text);
	}
	return limit > 0 ? limit : DEFAULT_LIMIT;
}

/* Ask all nodes. */
static void
begin(SfgRequest *request, const char *role, int limit)
{
	List	   *list = pg_malloc0(sizeof(List));
	const char *values[2] = {role, request->body.data};

	list->fan.answered = node_answered;
	list->fan.done = nodes_done;
	list->request = request;
	list->limit = limit;
	request->route_data = list;
	request->gone = gone;
	sfg_fan_ask(&list->fan, sfg_nodes_all(), LIST, 2, values);
}

/* Answer ListExecutions of a state machine from all nodes; false: the request is another one. */
bool
sfg_node_list(SfgRequest *request, const char *role)
{
	SfcJson		body;
	SfcJson		value;

	if (strcmp(request->what, "ListExecutions") != 0 ||
		!sfc_json_parse(request->body.data, request->body.len, &body) || sfc_json_get(body, "mapRunArn", &value))
		return false;
	begin(request, role, read_limit(body));
	return true;
}
