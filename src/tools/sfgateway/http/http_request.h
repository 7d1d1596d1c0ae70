/*
 * http_request.h
 *		A request, from its header to the end of its answer.
 */
#ifndef SFG_HTTP_REQUEST_H
#define SFG_HTTP_REQUEST_H

#include "postgres_fe.h"

#include <microhttpd.h>

#include "lib/ilist.h"
#include "pqexpbuffer.h"

#include "tools/client/loop.h"
#include "tools/sfgateway/database/database.h"

struct SfgRequest;

typedef void (*SfgHandler) (struct SfgRequest *request);

/* A connection of a client */
typedef struct SfgClient
{
	struct MHD_Connection *connection;
	char		address[64];	/* without the port */
	char		network[64];	/* the same, but for IPv6 */
	SfgCrowdStanding standing;
	int64_t		since;			/* the client has to do something since then: send a request, take an answer */
	struct SfgRequest *request; /* or NULL */
	const void *listener;		/* that took the connection */
	bool		answered;		/* has had a request before */
	bool		closing;		/* the connection ends with its next answer */
	dlist_node	node;
	dlist_node	member;			/* of the crowd, unless it came by the listener for health */
} SfgClient;

/* What to do for a path */
typedef struct SfgRoute
{
	const char *method;			/* GET serves HEAD, too */
	const char *path;			/* with a slash at its end: what begins with it */
	SfgHandler	handle;			/* has the whole body */
	bool		large;			/* the body may have max-body bytes; else a few kilobytes */
	bool		(*check) (struct SfgRequest *request);	/* before a large body; false: the request is answered */
	bool		quiet;			/* not in the log unless it fails */
	bool		always;			/* also by the listener for health */
	bool		for_programs;	/* no browser shows its answers */
	const bool *setting;		/* that has it served; NULL: it always is */
} SfgRoute;

/* Where a request stands; each may be followed by the ones below, and by no other */
typedef enum SfgRequestPhase
{
	SFG_REQUEST_READING,		/* its header and its body come */
	SFG_REQUEST_HANDLED,		/* its handler has it */
	SFG_REQUEST_WAITING,		/* its handler will answer later: the connection is suspended */
	SFG_REQUEST_ANSWERED		/* it was answered, or refused: the library sends that */
} SfgRequestPhase;

typedef struct SfgRequest
{
	struct MHD_Connection *connection;
	SfgRequestPhase phase;
	SfgClient  *client;
	const SfgRoute *route;
	char		id[37];			/* a UUID */
	char		method[8];
	char	   *path;			/* as sent, without the query */
	char		who[64];		/* role or access key, for the log */
	char		what[64];		/* the action, for the log */
	PQExpBufferData body;
	struct SfgWaiting *waiting; /* while it counts as one that waits for long */
	size_t		reserved;		/* bytes of a large body */
	int64_t		begun_at;
	bool		watched;		/* for the end of its client's connection, while it waits */
	bool		client_left;	/* before it was answered */
	struct MHD_Response *response;	/* what is there of the answer, or NULL */
	size_t		untaken;		/* bytes of the answer that count */
	unsigned	status;

	/* of the handler that has not answered yet */
	void		(*gone) (struct SfgRequest *request);	/* the client has left, or waited too long */
	void	   *route_data;
	const struct SfgAccessKeyUser *key_user; /* while an access key is looked up */
	void	   *data;			/* freed with the request */
	bool		may_change;		/* other pages are to look again when the answer to this one comes */
	int64_t		until;			/* the latest answer */
} SfgRequest;

extern SfgRequest *sfg_request_begin(SfgClient *client, const char *method, const char *path);
extern enum MHD_Result sfg_request_handle(SfgRequest *request);
extern void sfg_request_end(SfgRequest *request);
extern void sfg_request_give_up(SfgRequest *request);
extern void sfg_request_watch_client(SfgRequest *request);
extern void sfg_clients_watch(void);
extern const char *sfg_request_header(const SfgRequest *request, const char *name);
extern bool sfg_requests_resumed(void);

extern void sfg_answer(SfgRequest *request, unsigned status, const char *type, const char *text, size_t len);
extern void sfg_answer_header(SfgRequest *request, const char *name, const char *value);
extern void sfg_answer_send(SfgRequest *request);
extern void sfg_answer_json(SfgRequest *request, unsigned status, const char *json);
extern void sfg_answer_error(SfgRequest *request, unsigned status, const char *message);
extern void sfg_answer_refusal(SfgRequest *request, unsigned status, const char *message, const char *reason);
extern void sfg_answer_unavailable(SfgRequest *request, const char *message, const char *down_since);
extern void sfg_answers_close(void);

/* --- refuse requests whose framing two programs may read in two ways --- */

extern const char *sfg_framing_problem(struct MHD_Connection *connection, const char *method, const char *version);

#endif							/* SFG_HTTP_REQUEST_H */
