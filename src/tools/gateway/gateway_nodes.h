/*
 * gateway_nodes.h
 *		The databases of sf_nodes, which the gateway serves beside its own.
 *
 * Each has a place: SFG_HERE is that of the gateway's own database, the coordinator, the others follow in no order.
 * Sets of places are bits of a uint64.
 */
#ifndef SFG_GATEWAY_NODES_H
#define SFG_GATEWAY_NODES_H

#include "tools/gateway/pool.h"
#include "tools/gateway/http_request.h"

/* The place of the coordinator */
#define SFG_HERE	0

/* Places there are, that of the coordinator included */
#define SFG_MOST_NODES	64

#define SFG_NODE_BIT(place) (UINT64CONST(1) << (place))

extern void sfg_nodes_look(void);
extern void sfg_nodes_stop(void);
extern bool sfg_nodes_are_known(void);
extern uint64 sfg_nodes_all(void);
extern int	sfg_node_find(int number);
extern bool sfg_node_is_silent(int place);
extern const char *sfg_node_name(int place, char *text, size_t size);
extern void sfg_node_put_silence(PQExpBuffer text, int place);
extern void sfg_node_log_error(const SfgRequest *request, int place, const char *what, const PGresult *result);
extern void sfg_nodes_put_metrics(PQExpBuffer text);

/* How a call is made on a node */
typedef enum SfgNodeUse
{
	SFG_NODE_CALL,
	SFG_NODE_SYNC				/* it lasts, as StartSyncExecution */
} SfgNodeUse;

extern SfgCall *sfg_node_call(int place, SfgNodeUse use, const char *statement, int n, const char *const *values,
							  SfwDbDone done, void *arg);

/* --- requests of the AWS API that are answered by other nodes, too --- */

extern bool sfg_node_answer(SfgRequest *request, const char *role, const char *trace);
extern bool sfg_node_list(SfgRequest *request, const char *role);

/* --- where executions were found --- */

extern void sfg_hint_note(const char *arn, size_t len, int place);
extern int	sfg_hint_find(const char *arn, size_t len);

#endif							/* SFG_GATEWAY_NODES_H */
