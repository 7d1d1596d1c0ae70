/*
 * fetch.h
 *		HTTP requests in the event loop, each hop of them checked.
 */
#ifndef SFW_FETCH_H
#define SFW_FETCH_H

#include <stdint.h>

#include "buf.h"

typedef struct SfwFetch SfwFetch;

struct SfwFetch
{
	/* The request; the strings belong to it. */
	char	   *method;
	char	   *url;
	char	  **headers;
	bool	   *secret;			/* headers that another host must not see */
	int			n_headers;
	SfwBuf		body;
	bool		has_body;
	int64_t		time_limit;		/* milliseconds, all hops together */

	/* The response, when neither refused nor problem is set. */
	long		status;
	SfwBuf		status_line;
	SfwBuf		header_lines;	/* as they came, each with its end of line */
	SfwBuf		response;
	bool		too_large;
	char	   *refused;		/* why it may not be sent */
	char	   *problem;		/* why there is no response */

	void		(*done) (SfwFetch *fetch);
	void	   *arg;

	void	   *easy;			/* private */
	void	   *header_list;
	char	   *host;
	int			port;
	char	   *address_refused;	/* why one of the host's addresses may not be connected */
	bool		address_allowed;	/* another one may */
	int			hops;
	int64_t		began;
};

extern void sfw_fetch_init(void);
extern bool sfw_fetch_begin(SfwFetch *fetch);
extern void sfw_fetch_cancel(SfwFetch *fetch);
extern void sfw_fetch_free(SfwFetch *fetch);
extern void sfw_fetch_header(SfwFetch *fetch, const char *line, bool secret);
extern bool sfw_fetch_has_header(const SfwFetch *fetch, const char *name);

extern char *sfw_fetch_host(const char *url);
extern bool sfw_fetch_dry_run(const char *url, const char *location, SfwBuf *report);

#endif							/* SFW_FETCH_H */
