/*
 * gateway_config.h
 *		The settings of the gateway, from options and from a file.
 */
#ifndef SFG_GATEWAY_CONFIG_H
#define SFG_GATEWAY_CONFIG_H

#include "postgres_fe.h"

#include "fe_utils/simple_list.h"

#include "tools/sfgateway/aws_api/aws_api.h"

/* An access key of the file: [key ID] */
typedef struct SfgFileAccessKey
{
	char	   *id;
	char	   *role;
	SfgSecret	secret;
	struct SfgFileAccessKey *next;
} SfgFileAccessKey;

/* Settings that only have to be stored: key, type, field, smallest and largest value, argument, help */
#define SFG_SETTING_LIST(X) \
	X("listen", TEXT, listen, 0, 0, "ADDRESS:PORT", "where to serve (127.0.0.1:8083)") \
	X("health-listen", TEXT, health_listen, 0, 0, "ADDRESS:PORT", "/healthz and /readyz here, too, beside the limit of connections") \
	X("dsn", TEXT, dsn, 0, 0, "CONNINFO", "the database with the workflows") \
	X("schema", TEXT, schema, 0, 0, "NAME", "of the extension (found by itself)") \
	X("nodes", FLAG, nodes, 0, 0, "on|off", "serve the databases of sf_nodes, too, in the AWS API") \
	X("tls-certificate", TEXT, tls_certificate, 0, 0, "FILE", "serve https with this certificate (PEM, with its chain)") \
	X("tls-key", TEXT, tls_key, 0, 0, "FILE", "and its private key") \
	X("behind-proxy", FLAG, behind_proxy, 0, 0, "on|off", "a proxy serves https: listen beyond loopback without a certificate") \
	X("database-connections", COUNT, database_connections, 1, 100, "N", "for calls of the AWS API (4)") \
	X("sync-connections", COUNT, sync_connections, 1, 100, "N", "for StartSyncExecution (4)") \
	X("connections", COUNT, connections, 1, 100000, "N", "of clients at the same time (1000)") \
	X("connections-per-address", COUNT, connections_per_address, 0, 100000, "N", "of an address at the same time (half of all; of this machine or a proxy: all)") \
	X("waits-per-client", COUNT, waits_per_client, 1, 100000, "N", "requests of a role that wait at the same time (250)") \
	X("max-body", SIZE, max_body, 1024, 0, "SIZE", "of a request (2MB)") \
	X("request-timeout", TIME, request_timeout, 100, 0, "TIME", "for a client to send a request, or to take an answer (30s)") \
	X("statement-timeout", TIME, statement_timeout, 100, 0, "TIME", "for a call (30s)") \
	X("sync-timeout", TIME, sync_timeout, 1000, 0, "TIME", "for StartSyncExecution (6min)") \
	X("connect-timeout", TIME, connect_timeout, 1, 0, "TIME", "for connections to the database (10s)") \
	X("drain-timeout", TIME, drain_timeout, 0, 0, "TIME", "for what is under way at SIGTERM (30s)") \
	X("region", TEXT, region, 0, 0, "NAME", "that clients must sign for (any)") \
	X("sessions", COUNT, sessions, 0, 1000, "N", "of the console at the same time (50)") \
	X("session-idle", TIME, session_idle, 1000, 0, "TIME", "ends a session that no person uses (30min)") \
	X("session-max", TIME, session_max, 1000, 0, "TIME", "ends every session (12h)") \
	X("session-file", TEXT, session_file, 0, 0, "FILE", "in which sessions outlast a restart of the gateway") \
	X("console-trust", FLAG, console_trust, 0, 0, "on|off", "sign roles in whose password the database does not ask for") \
	X("mcp", FLAG, mcp, 0, 0, "on|off", "serve /mcp, the Model Context Protocol for agents, for access keys") \
	X("mcp-write", TEXT, mcp_write, 0, 0, "TOOL,...", "its tools that write: hold, redrive, release, start, stop (none)") \
	X("metrics-dsn", TEXT, metrics_dsn, 0, 0, "CONNINFO", "serve /metrics, read by the role of this connection") \
	X("metrics-token", TEXT, metrics_token, 0, 0, "TOKEN", "that /metrics asks for as a bearer token") \
	X("otlp", TEXT, otlp, 0, 0, "URL", "export traces to this collector of OpenTelemetry, by OTLP/HTTP") \
	X("otlp-dsn", TEXT, otlp_dsn, 0, 0, "CONNINFO", "of the role that may take spans (dsn)") \
	X("otlp-protocol", TEXT, otlp_protocol, 0, 0, "NAME", "protobuf or json (protobuf)") \
	X("otlp-compression", TEXT, otlp_compression, 0, 0, "NAME", "gzip or none (gzip)") \
	X("otlp-ca-file", TEXT, otlp_ca_file, 0, 0, "FILE", "certificates that the collector's is checked with (the system's)") \
	X("otlp-certificate", TEXT, otlp_certificate, 0, 0, "FILE", "show the collector this certificate (PEM)") \
	X("otlp-key", TEXT, otlp_key, 0, 0, "FILE", "and its private key") \
	X("otlp-timeout", TIME, otlp_timeout, 1, 0, "TIME", "for a request to the collector (10s)") \
	X("otlp-interval", TIME, otlp_interval, 100, 0, "TIME", "between looks for spans when there were none (5s)") \
	X("otlp-batch", COUNT, otlp_batch, 1, 10000, "N", "executions that are taken at once (100)") \
	X("otlp-batch-bytes", SIZE, otlp_batch_bytes, 4096, 0, "SIZE", "of a request, as JSON before it is compressed (512kB)") \
	X("otlp-service", TEXT, otlp_service, 0, 0, "NAME", "service.name of the spans (sfflow)") \
	X("otlp-instance", TEXT, otlp_instance, 0, 0, "NAME", "service.instance.id of the spans (a random UUID at each start)")

typedef struct SfgConfig
{
	char	   *listen;
	char	   *health_listen;
	char	   *dsn;
	bool		nodes;
	char	   *schema;
	char	   *tls_certificate;
	char	   *tls_key;
	bool		behind_proxy;
	int			database_connections;
	int			sync_connections;
	int			connections;
	int			connections_per_address;	/* 0: by the address */
	int			waits_per_client;
	size_t		max_body;		/* bytes */
	int64_t		request_timeout;	/* milliseconds, as all times here */
	int64_t		statement_timeout;
	int64_t		sync_timeout;
	int64_t		connect_timeout;
	int64_t		drain_timeout;
	char	   *region;
	int			sessions;
	int64_t		session_idle;
	int64_t		session_max;
	char	   *session_file;	/* or NULL */
	bool		console_trust;
	bool		mcp;
	char	   *mcp_write;		/* names of tools, or NULL */
	char	   *metrics_dsn;
	char	   *metrics_token;
	char	   *otlp;			/* or NULL: no traces are exported */
	char	   *otlp_dsn;		/* or NULL */
	char	   *otlp_protocol;
	char	   *otlp_compression;
	char	   *otlp_ca_file;	/* or NULL */
	char	   *otlp_certificate;
	char	   *otlp_key;
	int64_t		otlp_timeout;
	int64_t		otlp_interval;
	int			otlp_batch;
	size_t		otlp_batch_bytes;
	char	   *otlp_service;
	char	   *otlp_instance;	/* or NULL */
	SimpleStringList otlp_headers;	/* "Name: value", which may be secrets */
	SimpleStringList origins;	/* of pages that may use the console, besides the gateway's own */
	SfgFileAccessKey *keys;
} SfgConfig;

extern SfgConfig sfg_config;

extern bool sfg_config_set(const char *key, const char *value, char **problem);
extern bool sfg_config_read(const char *path, char **problem);
extern bool sfg_config_check(char **problem);

#endif							/* SFG_GATEWAY_CONFIG_H */
