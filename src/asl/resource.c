/*
 * resource.c
 *		Parse the Resource of a task.
 */
#include "postgres.h"

#include "asl/program.h"

typedef struct SfIntegrationSuffix
{
	const char *suffix;
	SfIntegration integration;
} SfIntegrationSuffix;

static const SfIntegrationSuffix integration_suffixes[] = {
	{".sync:2", SF_INTEGRATION_SYNC2},
	{".sync", SF_INTEGRATION_SYNC},
	{".waitForTaskToken", SF_INTEGRATION_WAIT_FOR_TASK_TOKEN},
};

/* Tell whether a resource is one that has no children to wait for. */
static bool
has_no_sync(const char *text)
{
	return strncmp(text, "sql:", 4) == 0 || strncmp(text, "activity:", 9) == 0 || strncmp(text, "event:", 6) == 0 ||
		strncmp(text, "human:", 6) == 0 || strstr(text, ":activity:") != NULL;
}

/*
 * Split the suffix that names the integration pattern off; returns the rest.
 * In sql:jobs.sync and the like it is the name of a function, an activity, an event or a worklist.
 */
static char *
split_integration(const char *text, SfIntegration *integration)
{
	size_t		len = strlen(text);

	*integration = SF_INTEGRATION_REQUEST_RESPONSE;
	for (size_t i = 0; i < lengthof(integration_suffixes); i++)
	{
		size_t		suffix_len = strlen(integration_suffixes[i].suffix);

		if (has_no_sync(text) && integration_suffixes[i].integration !=
			SF_INTEGRATION_WAIT_FOR_TASK_TOKEN)
			continue;
		if (len > suffix_len &&
			strcmp(text + len - suffix_len, integration_suffixes[i].suffix) == 0)
		{
			*integration = integration_suffixes[i].integration;
			return pnstrdup(text, len - suffix_len);
		}
	}
	return pstrdup(text);
}

/* Return the n-th part (from 0) of an ARN and all that follows; NULL: it is no ARN. */
const char *
sf_resource_arn_part(const char *arn, int n)
{
	if (strncmp(arn, "arn:", 4) != 0)
		return NULL;
	while (n-- > 0)
	{
		arn = strchr(arn, ':');
		if (arn == NULL)
			return NULL;
		arn++;
	}
	return arn;
}

/* Copy up to the next colon, or to the end. */
static char *
copy_part(const char *part)
{
	return pnstrdup(part, strcspn(part, ":"));
}

/*
 * Parse arn:partition:service:region:account:rest.  Optimized integrations
 * are arn:aws:states:::service:action; in them the service is the resource
 * type of the events, and all that follows it the resource.
 */
static void
parse_arn(const char *base, SfResource *out)
{
	const char *service = sf_resource_arn_part(base, 2);
	const char *rest = sf_resource_arn_part(base, 5);
	const char *type;

	if (service == NULL || rest == NULL)
		return;
	out->service = copy_part(service);
	out->action = sf_resource_arn_part(out->text, 5);

	if (strcmp(out->service, "states") != 0)
		return;
	if (strncmp(rest, "activity:", 9) == 0)
	{
		out->kind = SF_RESOURCE_ACTIVITY;
		out->name = rest + 9;
		out->service = "activity";
		out->action = out->text;	/* events of activities have the ARN */
		return;
	}
	type = strchr(rest, ':');
	if (type == NULL)
		return;

	/* arn:aws:states:::aws-sdk:service:action has a two-part service */
	if (strncmp(rest, "aws-sdk:", 8) == 0 && strchr(type + 1, ':') != NULL)
		type = strchr(type + 1, ':');
	out->service = pnstrdup(rest, type - rest);
	out->action = out->text + (type + 1 - base);
	if (strcmp(rest, "states:startExecution") == 0)
	{
		out->kind = SF_RESOURCE_START_EXECUTION;
		out->name = "startExecution";
	}
}

/* List the names of the events that a resource waits for, which a comma separates. */
static List *
split_event_names(const char *text)
{
	List	   *names = NIL;

	for (;;)
	{
		size_t		length = strcspn(text, ",");

		names = lappend(names, pnstrdup(text, length));
		if (text[length] == '\0')
			return names;
		text += length + 1;
	}
}

/*
 * Parse the text of a Resource; never fails.  kind and name say what sfflow
 * runs itself (3.5 of the design); any other text is MAPPED and left to the
 * resource map.  service and action are resourceType and resource in the
 * events.
 */
void
sf_resource_parse(const char *text, SfResource *out)
{
	char	   *base;

	memset(out, 0, sizeof(*out));
	out->text = pstrdup(text);
	base = split_integration(out->text, &out->integration);
	out->kind = SF_RESOURCE_MAPPED;
	out->name = base;
	out->service = copy_part(base);
	out->action = strchr(out->text, ':') ? strchr(out->text, ':') + 1 : out->text;

	if (strcmp(base, "sql:query") == 0)
	{
		out->kind = SF_RESOURCE_SQL_QUERY;
		out->name = "query";
	}
	else if (strncmp(base, "sql:", 4) == 0)
	{
		out->kind = SF_RESOURCE_SQL_FUNCTION;
		out->name = base + 4;
	}
	else if (strncmp(base, "activity:", 9) == 0)
	{
		out->kind = SF_RESOURCE_ACTIVITY;
		out->name = base + 9;
		out->action = out->text;
	}
	else if (strncmp(base, "event:", 6) == 0)
	{
		out->kind = SF_RESOURCE_EVENT;
		out->name = base + 6;
		out->event_names = split_event_names(out->name);
	}
	else if (strncmp(base, "human:", 6) == 0)
	{
		out->kind = SF_RESOURCE_HUMAN;
		out->name = base + 6;
	}
	else if (strncmp(base, "arn:", 4) == 0)
		parse_arn(base, out);
}

/*
 * Name an ItemReader's resource also by what it reads, as its ReaderConfig says:
 * "arn:aws:states:::s3:getObject#PARQUET".  So one type may be mapped elsewhere.
 */
void
sf_resource_reads(SfResource *reader, const char *input_type, const char *manifest_type)
{
	const char *type = input_type != NULL ? input_type : "JSON";

	if (manifest_type != NULL && strcmp(manifest_type, "S3_INVENTORY") == 0)
		type = "MANIFEST";
	reader->reads = pstrdup(type);
	reader->typed = psprintf("%s#%s", reader->name, type);
}

/* Does a mapped resource read Parquet, which takes a client? */
bool
sf_resource_reads_parquet(const SfResource *resource)
{
	return resource->reads != NULL && resource->kind == SF_RESOURCE_MAPPED &&
		strcmp(resource->reads, "PARQUET") == 0;
}
