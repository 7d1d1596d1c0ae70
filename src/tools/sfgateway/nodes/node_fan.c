/*
 * node_fan.c
 *		A question to several nodes at the same time.
 *
 * A node that does not answer has its call ended when it falls silent, and so keeps the others waiting no longer than
 * that takes.
 */
#include "postgres_fe.h"

#include "tools/sfgateway/nodes/gateway_nodes.h"

/* One less is waited for: the last one ends the question. */
static void
settle(SfgFan *fan)
{
	if (--fan->waiting == 0)
		fan->done(fan);
}

/* A node has answered, or not (NULL). */
static void
answered(const PGresult *result, void *arg)
{
	SfgFanCall *call = arg;
	SfgFan	   *fan = call->fan;

	call->call = NULL;
	fan->answered(fan, (int) (call - fan->calls), result);
	settle(fan);
}

/* Ask nodes, with a role as the first value. */
void
sfg_fan_ask(SfgFan *fan, uint64 node_set, const char *statement, int n, const char *const *values)
{
	fan->waiting = 1;			/* this function */
	for (int node_index = 0; node_index < SFG_MOST_NODES; node_index++)
	{
		SfgFanCall *call = &fan->calls[node_index];

		if ((node_set & SFG_NODE_BIT(node_index)) == 0)
			continue;
		call->fan = fan;
		call->call = sfg_node_call(node_index, SFG_NODE_CALL, statement, n, values, answered, call);
		if (call->call != NULL)
			fan->waiting++;
		else
			fan->answered(fan, node_index, NULL);
	}
	settle(fan);
}

/* The client has left: neither function is called any more. */
void
sfg_fan_forget(SfgFan *fan)
{
	for (int node_index = 0; node_index < SFG_MOST_NODES; node_index++)
		if (fan->calls[node_index].call != NULL)
			sfg_call_forget(fan->calls[node_index].call);
}
