/*
 * mcp.h
 *		The Model Context Protocol: what agents ask.
 */
#ifndef SFG_MCP_H
#define SFG_MCP_H

#include "tools/client/json_text.h"
#include "tools/sfgateway/http/http_request.h"

/* What a client has sent: a request, a notification, or an answer to a request that the gateway has not made */
typedef struct SfgMcpMessage
{
	SfcJson		id;				/* no text: there is none */
	SfcJson		params;			/* an object, or no text */
	char		method[64];		/* "": there is none */
} SfgMcpMessage;

/* Codes of errors, as JSON-RPC has them */
typedef enum SfgMcpCode
{
	SFG_MCP_PARSE_ERROR = -32700,
	SFG_MCP_INVALID_REQUEST = -32600,
	SFG_MCP_NO_METHOD = -32601,
	SFG_MCP_INVALID_PARAMS = -32602,
	SFG_MCP_INTERNAL = -32603
} SfgMcpCode;

extern bool sfg_mcp_set_writing(const char *names, char **problem);
extern void sfg_mcp(SfgRequest *request);
extern void sfg_mcp_register(SfgRequest *request);

/* --- messages of JSON-RPC 2.0 --- */

extern bool sfg_mcp_read(SfgRequest *request, SfgMcpMessage *message);
extern void sfg_mcp_answer(SfgRequest *request, SfcJson id, const char *result, size_t len);
extern void sfg_mcp_refuse(SfgRequest *request, unsigned status, SfcJson id, SfgMcpCode code, const char *reason);

#endif							/* SFG_MCP_H */
