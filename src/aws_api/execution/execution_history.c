/*
 * execution_history.c
 *		GetExecutionHistory.
 *
 * The ids of events are 1, 2, 3 and so on, so that the ids of a page are known before it is
 * read.  Where the machine's option history leaves events out, a page has fewer.  So it has
 * if its events are large: it then ends early, in reverse order with a later id.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/objects.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "report/report.h"
#include "store/history/history_event_types.h"
#include "store/state_machine/program_cache.h"

/* A page ends with the event that makes it larger than this. */
#define PAGE_BYTES	(2 * 1024 * 1024)

/* An event of a page */
typedef struct PageEvent
{
	int			id;
	Jsonb	   *answer;
} PageEvent;

/* A page of a history */
typedef struct HistoryPage
{
	const SfExecution *execution;
	int			first;			/* ids of its events */
	int			last;
	bool		reverse;
	bool		with_data;
	const char *role_arn;
	int			version;		/* of the program */
	const SfProgram *program;
	MemoryContext context;		/* of the events: the scan's own is reset */
	List	   *events;			/* PageEvent *, in the order of ids */
	Size		bytes;			/* of these */
} HistoryPage;

/* Tell whether events of a type have details. */
static bool
has_details(int type)
{
	static const char *const shapes[] = {
#define EVENT_SHAPE(sym, name, shape, subject, meaning) #shape,
		SF_HISTORY_EVENT_TYPE_LIST(EVENT_SHAPE)
	};

	return type >= 0 && type < (int) lengthof(shapes) && strcmp(shapes[type], "NONE") != 0;
}

/* The member that holds the details of events of a type. */
static char *
details_key(const char *type)
{
	size_t		len = strlen(type);
	char	   *key;

	if (len > 12 && strcmp(type + len - 12, "StateEntered") == 0)
		return "stateEnteredEventDetails";
	if (len > 11 && strcmp(type + len - 11, "StateExited") == 0)
		return "stateExitedEventDetails";
	key = psprintf("%sEventDetails", type);
	key[0] = pg_tolower((unsigned char) key[0]);
	return key;
}

/* Tell whether a member of details is a payload, which is shown as JSON text; 2: it is data of the execution. */
static int
is_payload(const char *member)
{
	if (strcmp(member, "input") == 0 || strcmp(member, "output") == 0)
		return 2;
	return strcmp(member, "parameters") == 0 ? 1 : 0;
}

/* Add the details of an event. */
static void
add_details(SfJsonBuilder *json, const HistoryPage *page, const SfHistoryEvent *event)
{
	Jsonb	   *details = sf_history_event_details_make(page->program, event, page->role_arn);
	JsonbValue	object;
	SfJsonMember *members;
	int			n;

	sf_json_root(details, &object);
	members = sf_json_members(&object, &n);
	sf_json_open_object(json, details_key(sf_history_event_type_name(event->type)));
	for (int i = 0; i < n; i++)
	{
		char	   *key = pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len);
		int			payload = is_payload(key);

		if (payload == 2 && !page->with_data)
			continue;
		if (payload > 0)
			sf_json_add_string(json, key, sf_json_to_cstring(sf_json_make(&members[i].value)));
		else
			sf_json_add_value(json, key, &members[i].value);
	}
	if (event->type == SF_HISTORY_EVENT_EXECUTION_STARTED)
		sf_address_answer_qualifier(json, page->execution);
	sf_json_close_object(json);
}

/* Tell whether an event belongs to the page (SfHistoryEventFilter). */
static bool
is_on_page(const SfHistoryEvent *event, void *arg)
{
	const HistoryPage *page = arg;

	return event->id >= page->first && event->id <= page->last;
}

/* End the page when it is large enough: a later event does not fit, or in reverse order the first ones do not. */
static void
bound_page(HistoryPage *page)
{
	if (page->bytes > PAGE_BYTES && !page->reverse)
		page->last = ((PageEvent *) llast(page->events))->id;
	while (page->bytes > PAGE_BYTES && page->reverse)
	{
		PageEvent  *first = linitial(page->events);
		Size		rest = page->bytes - VARSIZE(first->answer);

		if (rest <= PAGE_BYTES)
			break;
		page->bytes = rest;
		page->first = first->id + 1;
		page->events = list_delete_first(page->events);
		pfree(first->answer);
		pfree(first);
	}
}

/* Find the program of an event. */
static void
find_program(HistoryPage *page, const SfHistoryEvent *event)
{
	MemoryContext old;

	if (page->program != NULL && event->version == page->version)
		return;
	old = MemoryContextSwitchTo(page->context);
	page->program = sf_program_cache_get(page->execution->machine_no, event->version);
	page->version = event->version;
	MemoryContextSwitchTo(old);
}

/* Add an event to the page. */
static void
visit(const SfHistoryEvent *event, void *arg)
{
	HistoryPage *page = arg;
	SfCall		call = {0};
	Jsonb	   *answer;
	PageEvent  *entry;
	MemoryContext old;

	find_program(page, event);
	sf_json_begin_object(&call.answer);
	sf_json_add_int(&call.answer, "id", event->id);
	sf_json_add_int(&call.answer, "previousEventId", event->previous_id);
	sf_answer_time(&call, "timestamp", event->at);
	sf_json_add_string(&call.answer, "type", sf_history_event_type_name(event->type));
	if (has_details(event->type))
		add_details(&call.answer, page, event);
	answer = sf_json_end(&call.answer);

	old = MemoryContextSwitchTo(page->context);
	entry = palloc(sizeof(PageEvent));
	entry->id = event->id;
	entry->answer = DatumGetJsonbPCopy(JsonbPGetDatum(answer));
	page->events = lappend(page->events, entry);
	page->bytes += VARSIZE(answer);
	bound_page(page);
	MemoryContextSwitchTo(old);
}

/* Find the ids of the page that a request asks for. */
static void
find_page(SfCall *call, HistoryPage *page)
{
	char	   *key = sf_answer_token_key(call);
	int			max_results = sf_request_max_results(call);
	int			end = page->execution->last_event_id;

	if (page->reverse)
	{
		page->last = key == NULL ? end : pg_strtoint32(key) - 1;
		page->first = Max(page->last - max_results + 1, 1);
	}
	else
	{
		page->first = key == NULL ? 1 : pg_strtoint32(key) + 1;
		page->last = Min(page->first + max_results - 1, end);
	}
}

/* Add the token of the page after this one, if there is one. */
static void
add_token(SfCall *call, const HistoryPage *page)
{
	if (page->reverse && page->first > 1)
		sf_answer_next(call, psprintf("%d", page->first));
	if (!page->reverse && page->last < page->execution->last_event_id)
		sf_answer_next(call, psprintf("%d", page->last));
}

/* GetExecutionHistory. */
void
sf_operation_list_events(SfCall *call)
{
	const char *id = sf_request_id(call, "executionArn", SF_NAME_EXECUTION);
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_READ);
	HistoryPage page = {.execution = execution,.context = CurrentMemoryContext};
	int			n;

	page.reverse = sf_request_flag(call, "reverseOrder", false);
	page.with_data = sf_request_flag(call, "includeExecutionData", true);
	page.role_arn = sf_program_cache_role(execution->machine_no, execution->version, execution->owner);
	find_page(call, &page);
	sf_history_event_scan_some(execution->execution_no, is_on_page, visit, &page);
	add_token(call, &page);
	n = list_length(page.events);
	sf_json_open_array(&call->answer, "events");
	for (int i = 0; i < n; i++)
	{
		PageEvent  *event = list_nth(page.events, page.reverse ? n - 1 - i : i);

		sf_json_add(&call->answer, NULL, event->answer);
	}
	sf_json_close_array(&call->answer);
}
