/*
 * gateway_nodes.h
 *		The databases of sf_nodes, which the gateway serves beside its own.
 *
 * Each has an index: SFG_HERE is that of the gateway's own database, the coordinator, the others follow in no order.
 * Sets of nodes are bits of a uint64.
 */
#ifndef SFG_GATEWAY_NODES_H
#define SFG_GATEWAY_NODES_H

#include "tools/sfgateway/database/pool.h"
#include "tools/sfgateway/http/http_request.h"

/* The index of the coordinator */
#define SFG_HERE	0

/* Where the index of a node may stand: there is none, or it is not known */
#define SFG_NO_NODE	(-1)

/* Where the number of a node may stand: it has none, or it is not known */
#define SFG_NO_NODE_NUMBER	(-1)

/* Indexes there are, that of the coordinator included */
#define SFG_MOST_NODES	64

/* Why it is not known which node has something */
#define SFG_NODES_NOT_KNOWN "the coordinator has not said yet which nodes there are"

#define SFG_NODE_BIT(index) (UINT64CONST(1) << (index))

/* The bits of a number below that of the node which has drawn it (src/copy/sequences.c) */
#define SFG_NUMBER_BITS	48

/* The node that has drawn the number of an execution, or of a task of people. */
static inline int
sfg_node_of_number(uint64 number)
{
	return (int) (number >> SFG_NUMBER_BITS);
}

extern void sfg_nodes_refresh(void);
extern void sfg_nodes_stop(void);
extern bool sfg_nodes_are_known(void);
extern uint64 sfg_nodes_all(void);
extern int	sfg_node_find(int number);
extern bool sfg_node_is_silent(int node_index);
extern void sfg_node_put_reason(PQExpBuffer text, int node_index);
extern void sfg_nodes_put(PQExpBuffer text, uint64 node_set, bool with_reasons);
extern void sfg_node_put_json(PQExpBuffer json, int node_index);
extern void sfg_node_log_error(const SfgRequest *request, int node_index, const char *what, const PGresult *result);
extern void sfg_nodes_put_metrics(PQExpBuffer text);

/* How a call is made on a node */
typedef enum SfgNodeUse
{
	SFG_NODE_CALL,
	SFG_NODE_SYNC				/* it lasts, as StartSyncExecution */
} SfgNodeUse;

extern SfgCall *sfg_node_call(int node_index, SfgNodeUse use, const char *statement, int n, const char *const *values,
							  SfcDbDone done, void *arg);
extern void sfg_node_request_call(SfgRequest *request, int node_index, const char *statement, int n,
								  const char *const *values, SfcDbDone done);

/* --- a question to several nodes at the same time --- */

typedef struct SfgFan SfgFan;

/* Called once for each node, with the answer, or NULL: the node does not answer. */
typedef void (*SfgFanAnswered) (SfgFan *fan, int node_index, const PGresult *result);

/* Called when all have answered, or not; it may free the fan. */
typedef void (*SfgFanDone) (SfgFan *fan);

/* A call of it */
typedef struct SfgFanCall
{
	SfgFan	   *fan;
	SfgCall    *call;			/* NULL: it is not under way */
} SfgFanCall;

/* It is part of what a request keeps, and has zeros but for the functions before it is asked. */
struct SfgFan
{
	SfgFanAnswered answered;
	SfgFanDone	done;
	int			waiting;		/* nodes that have not answered yet */
	SfgFanCall	calls[SFG_MOST_NODES];	/* by index */
};

extern void sfg_fan_ask(SfgFan *fan, uint64 node_set, const char *statement, int n, const char *const *values);
extern void sfg_fan_forget(SfgFan *fan);

/* Called with what all nodes but the coordinator have said, as JSON. */
typedef void (*SfgGathered) (SfgRequest *request, const char *answers);

extern void sfg_nodes_gather(SfgRequest *request, const char *statement, int n, const char *const *values,
							 SfgGathered gathered);

/* --- requests of the AWS API that are answered by other nodes, too --- */

extern bool sfg_node_answer(SfgRequest *request, const char *role, const char *trace);
extern bool sfg_node_list(SfgRequest *request, const char *role);

/* What a request is on, and what is on one node: the kinds of target */
typedef enum SfgTargetKind
{
	SFG_TARGET_EXECUTION,
	SFG_TARGET_HOLDABLE,		/* an execution, or something else that is named by its kind */
	SFG_TARGET_TASK				/* a task of people */
} SfgTargetKind;

/* Called with the index of the node of a target; or with SFG_NO_NODE, the status of the answer, and why it is none. */
typedef void (*SfgLocated) (SfgRequest *request, int node_index, unsigned status, const char *why);

extern bool sfg_node_may_have(SfgTargetKind kind, const char *name);
extern void sfg_node_locate(SfgRequest *request, const char *role, SfgTargetKind kind, const char *name,
							uint64 node_set, SfgLocated located);

/* --- where executions were found --- */

extern void sfg_node_cache_note(const char *arn, size_t len, int node_index);
extern int	sfg_node_cache_find(const char *arn, size_t len);

#endif							/* SFG_GATEWAY_NODES_H */
