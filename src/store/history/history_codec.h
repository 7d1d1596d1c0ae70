/*
 * history_codec.h
 *		Rows of _sfflow.history as events: src/store/README.md has the format.
 */
#ifndef SF_STORE_HISTORY_CODEC_H
#define SF_STORE_HISTORY_CODEC_H

#include "lib/stringinfo.h"

#include "store/history/history_event.h"

/* Number of the format, the first byte of a body */
#define SF_HISTORY_FORMAT	1

/* Events of a row, at most; bytes of documents, unless one event has more */
#define SF_HISTORY_MAX_EVENTS		1000
#define SF_HISTORY_MAX_DOCUMENTS	(64 * 1024)

/* --- packing --- */

/* A row in the making: events of one execution with consecutive ids */
typedef struct SfHistoryPacker
{
	SfHistoryRow row;
	StringInfoData events;		/* packed so far */
	int			count;
	int			version;		/* of the state machine */
	SfHistoryEvent last;		/* added last */
	int			last_payload;	/* event that has the last payload, or SF_NO_EVENT */
	Datum	   *documents;
	int			ndocuments;
	int			size;			/* of documents */
	Size		document_bytes;
} SfHistoryPacker;

extern void sf_history_pack_begin(SfHistoryPacker *packer, const SfHistoryEvent *first);
extern bool sf_history_pack_fits(const SfHistoryPacker *packer, const SfHistoryEvent *event);
extern void sf_history_pack_add(SfHistoryPacker *packer, const SfHistoryEvent *event);
extern const SfHistoryRow *sf_history_pack_end(SfHistoryPacker *packer);

/* --- unpacking --- */

/* In place of the number of a document of a row: there is none */
#define SF_NO_DOCUMENT	(-1)

/* A row being read */
typedef struct SfHistoryReader
{
	const SfHistoryRow *row;
	MemoryContext context;		/* of what the reader allocates */
	const unsigned char *next;
	const unsigned char *end;
	const char *problem;		/* why the row cannot be read further; NULL: nothing */
	int			count;			/* events of the row */
	int			nread;
	SfHistoryEvent event;		/* read last; without its documents */
	int			payload_document;	/* numbers of its documents, or SF_NO_DOCUMENT */
	int			extra_document;
	int			last_payload;	/* event that has the last payload, or SF_NO_EVENT */
	int		   *own_documents;	/* by event of this row: number of its payload, or SF_NO_DOCUMENT */
	int			size;			/* of event.iterations */
	int			ndocuments;		/* that the events so far have */
	Datum	   *documents;		/* once one was asked for */
	int			narray;			/* elements of the column */
} SfHistoryReader;

extern bool sf_history_begin(SfHistoryReader *reader, const SfHistoryRow *row);
extern bool sf_history_try_next(SfHistoryReader *reader);
extern bool sf_history_next(SfHistoryReader *reader);
extern bool sf_history_find(SfHistoryReader *reader, int id);
extern Jsonb *sf_history_document(SfHistoryReader *reader, int number);
extern bool sf_history_check_documents(SfHistoryReader *reader);

#endif							/* SF_STORE_HISTORY_CODEC_H */
