/*
 * trace_option.c
 *		Which executions are part of a trace: the option trace of a start, the setting sfflow.traceparent, the comment
 *		of the query, the header of the AWS API; and the option trace of a machine, {"sample": 0.1}.
 *
 * As the sampler ParentBased of OpenTelemetry: whether a trace that is given is sampled, its flag says.  Of
 * executions that come without one, those of a machine that has the option begin one; a share of these is sampled,
 * as TraceIdRatioBased chooses by the trace id.  The others are part of a trace that is not sampled, so that what
 * they begin is not, either.
 */
#include "postgres.h"

#include "tcop/tcopprot.h"

#include "base/error/errors.h"
#include "base/settings.h"
#include "feature/trace/trace.h"
#include "run/task/origin.h"

/*
 * Read the option trace of a version, or raise: the share, a double, of its executions that is sampled; NULL: they
 * begin no trace.
 */
void *
sf_trace_compile(const Jsonb *options, const SfProgram *program)
{
	Jsonb	   *given = sf_json_get(options, "trace");
	JsonbValue	root;
	JsonbValue	sample;
	double	   *compiled;
	double		share;

	if (given == NULL)
		return NULL;
	sf_json_root(given, &root);
	if (!sf_json_is_object(&root) || sf_json_count(&root) != 1 ||
		!sf_json_member(&root, "sample", strlen("sample"), &sample) || sample.type != jbvNumeric)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option trace must be an object with the member \"sample\", a number"),
				 errhint("{\"trace\": {\"sample\": 0.1}} samples a tenth of the executions that come without a trace.")));
	share = DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(sample.val.numeric)));
	if (!(share >= 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option trace: sample must be from 0 to 1")));
	compiled = palloc(sizeof(double));
	*compiled = share;
	return compiled;
}

/* Does a share of all traces have this one? */
static bool
is_in_share(const char *trace_id, double share)
{
	uint64		number = (uint64) strtoull(trace_id + SF_SPAN_ID_DIGITS, NULL, 16) >> 1;

	return share >= 1 || (share > 0 && number < (uint64) (share * (double) (UINT64CONST(1) << 63)));
}

/* Begin a trace. */
static void
make_context(SfTraceContext *context)
{
	uint8		bytes[SF_TRACE_ID_DIGITS / 2];

	memset(context, 0, sizeof(*context));
	if (!pg_strong_random(bytes, sizeof(bytes)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	bytes[0] |= bytes[0] == 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(context->trace_id + 2 * i, 3, "%02x", bytes[i]);
	strcpy(context->span_id, SF_NO_SPAN);
}

/* Read the option trace of a start; false: it is not given. */
static bool
read_option(const Jsonb *options, SfTraceContext *context)
{
	Jsonb	   *given = options == NULL ? NULL : sf_json_get(options, "trace");
	JsonbValue	value;

	if (given == NULL)
		return false;
	sf_json_root(given, &value);
	if (value.type == jbvNull)
		return false;
	if (value.type != jbvString || !sf_trace_parse(pnstrdup(value.val.string.val, value.val.string.len), context))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option trace must be a traceparent of W3C Trace Context"),
				 errhint("It is as \"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\", then, after a blank, a tracestate.")));
	return true;
}

/* Read the header of the AWS API (NULL: there is none), which sfgateway may also have taken from a traceparent. */
static bool
find_in_header(const char *header, SfTraceContext *context)
{
	return header != NULL && (sf_trace_parse_amazon(header, context) || sf_trace_parse(header, context));
}

/* Find the trace that the session is part of, or its query, unless the query is not the start's own. */
static bool
find_of_session(SfTraceContext *context)
{
	if (sf_setting_traceparent != NULL && *sf_setting_traceparent != '\0' &&
		sf_trace_parse(sf_setting_traceparent, context))
		return true;
	return sf_origin_innermost->kind == SF_ORIGIN_SESSION && debug_query_string != NULL &&
		sf_trace_parse_comment(debug_query_string, context);
}

/* Find the trace that a start gives an execution; false: none. */
static bool
find_given(const SfExecution *execution, SfTraceContext *context)
{
	/* what its parent does is in a trace only if the parent is */
	if (sf_execution_has_parent(execution))
		return false;
	return read_option(execution->start.options, context) ||
		find_in_header(execution->trace_header, context) ||
		find_of_session(context);
}

/*
 * Give an execution that is to begin the trace that it is part of; compiled: what sf_trace_compile() says of its
 * version.
 */
void
sf_trace_prepare(SfExecution *execution, const void *compiled)
{
	const double *share = compiled;
	SfTraceContext context;

	/* its parent's */
	if (execution->trace != NULL)
		return;
	if (!find_given(execution, &context))
	{
		if (share == NULL)
			return;
		make_context(&context);
	}
	if (!context.decided && share != NULL && is_in_share(context.trace_id, *share))
		context.flags |= SF_TRACE_SAMPLED;
	execution->trace = sf_trace_print(&context);
}
