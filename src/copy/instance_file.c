/*
 * instance_file.c
 *		The file by which a data directory knows itself from its copies.
 *
 * A copy of a data directory has the system identifier and the database oids
 * of the original.  What it does not have is the inode and the birth time of
 * the original's files.  So the file names its own; where they differ it came
 * with a copy (cp, tar, a base backup, pg_rewind), and the rules of
 * copy_decision.h decide.  The id in it is what the row of a driven database
 * names (instance.c).
 *
 * The file is never changed in place: a new one is written, synced and renamed
 * over it, so that a crash leaves the old one or the new one.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "catalog/pg_control.h"
#include "catalog/pg_database.h"
#include "common/controldata_utils.h"
#include "common/file_perm.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/lmgr.h"
#include "utils/guc.h"

#include "base/error/debug_point.h"
#include "copy/file_identity.h"
#include "copy/instance.h"

#define INSTANCE_FILE	"sfflow.instance"
#define TEMPORARY_FILE	"sfflow.instance.tmp"
#define FILE_FORMAT		"sfflow.instance 1\nid " INT64_FORMAT "\nrole %s\n" \
	"inode " UINT64_FORMAT "\nborn " INT64_FORMAT "\nend\n"
#define MAX_FILE_SIZE	256

/* Tells the lock on the file from that of NOTIFY, which is 0 of no database too */
#define FILE_LOCK_SUBID	1

typedef struct InstanceFile
{
	int64		id;				/* 0: no file of this data directory's own */
	SfDirectoryKind	kind;
} InstanceFile;

/* As of the server's start; without preloading, of when it was last read */
static InstanceFile current = {0, SF_DIRECTORY_COPY};

/* --- reading and writing --- */

/* Take the contents apart; false when this is no such file. */
static bool
parse_file(const char *text, InstanceFile *file, SfFileIdentity *identity)
{
	char		kind[16];
	int			end = 0;

	return sscanf(text, "sfflow.instance 1\nid " INT64_FORMAT "\nrole %15s\n"
				  "inode " UINT64_FORMAT "\nborn " INT64_FORMAT "\nend%n",
				  &file->id, kind, &identity->inode, &identity->born_ns, &end) == 4 &&
		end > 0 && file->id != 0 && sf_copy_kind_of(kind, &file->kind);
}

/* Read a file that is open; false when it is none, or a copy of one. */
static bool
read_open_file(int fd, InstanceFile *file)
{
	char		text[MAX_FILE_SIZE];
	ssize_t		length = read(fd, text, sizeof(text) - 1);
	SfFileIdentity written;
	SfFileIdentity actual;

	if (length <= 0)
		return false;
	text[length] = '\0';
	if (!parse_file(text, file, &written) || !sf_file_identity(fd, &actual))
		return false;
	if (sf_file_identity_is_equal(&written, &actual))
		return true;
	if (sf_file_identity_lasts(fd))
		return false;
	ereport(LOG,
			(errmsg("sfflow cannot tell this data directory from a copy of its files"),
			 errdetail("Inode numbers of its file system may change, so that \"%s\" is taken for its own.",
					   INSTANCE_FILE)));
	return true;
}

/* Read the file; false when there is none of this data directory's own. */
static bool
read_file(InstanceFile *file)
{
	int			fd = BasicOpenFile(INSTANCE_FILE, O_RDONLY | PG_BINARY);
	bool		own;

	if (fd < 0)
		return false;
	own = read_open_file(fd, file);
	close(fd);
	return own;
}

/* Write a file that is open, with its own identity. */
static bool
write_open_file(int fd, const InstanceFile *file)
{
	char		text[MAX_FILE_SIZE];
	SfFileIdentity identity;
	int			length;

	if (!sf_file_identity(fd, &identity))
		return false;
	length = snprintf(text, sizeof(text), FILE_FORMAT, file->id,
					  sf_copy_kind_name(file->kind), identity.inode, identity.born_ns);
	errno = 0;
	if (write(fd, text, length) != length)
	{
		if (errno == 0)
			errno = ENOSPC;
		return false;
	}
	SF_DEBUG_POINT("instance-file-before-sync");
	return pg_fsync(fd) == 0;
}

/* Replace the file; false, with a line in the log, when that failed. */
static bool
write_file(const InstanceFile *file)
{
	int			fd;
	bool		written;

	/* of a crash; it may be shared with a backup made of hard links */
	(void) unlink(TEMPORARY_FILE);
	fd = BasicOpenFilePerm(TEMPORARY_FILE, O_WRONLY | O_CREAT | O_EXCL | PG_BINARY,
						   pg_file_create_mode);
	written = fd >= 0 && write_open_file(fd, file);
	if (!written)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", TEMPORARY_FILE)));
	if (fd >= 0)
		close(fd);
	SF_DEBUG_POINT("instance-file-before-rename");
	if (written && durable_rename(TEMPORARY_FILE, INSTANCE_FILE, LOG) == 0)
	{
		SF_DEBUG_POINT("instance-file-after-rename");
		return true;
	}
	(void) unlink(TEMPORARY_FILE);
	return false;
}

/* Make an id that no other data directory has. */
static int64
new_id(void)
{
	int64		id;

	do
	{
		if (!pg_strong_random(&id, sizeof(id)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate a random number")));
		id &= PG_INT64_MAX;
	} while (id == 0);
	return id;
}

/* --- the start of the server --- */

/* Tell whether a file is in the data directory. */
static bool
file_exists(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0;
}

/* Tell whether recovery is to stop before the end of the WAL. */
static bool
has_recovery_target(void)
{
	static const char *const settings[] = {
		"recovery_target", "recovery_target_lsn", "recovery_target_name",
		"recovery_target_time", "recovery_target_xid"
	};

	for (size_t i = 0; i < lengthof(settings); i++)
	{
		const char *value = GetConfigOption(settings[i], true, false);

		if (value != NULL && value[0] != '\0')
			return true;
	}
	return false;
}

/* Tell whether the server was last shut down as a standby. */
static bool
was_shut_down_in_recovery(void)
{
	bool		crc_ok;
	ControlFileData *control = get_controlfile(DataDir, &crc_ok);
	bool		result = crc_ok && control->state == DB_SHUTDOWNED_IN_RECOVERY;

	pfree(control);
	return result;
}

/* Find out what the rules ask for. */
static SfCopyFacts
gather_facts(bool own, SfDirectoryKind kind)
{
	SfCopyFacts facts = {0};

	facts.own = own;
	facts.kind = kind;
	facts.standby_signal = file_exists(STANDBY_SIGNAL_FILE);
	facts.recovery_signal = file_exists(RECOVERY_SIGNAL_FILE);
	facts.recovery_target = has_recovery_target();
	facts.backup_label = file_exists(BACKUP_LABEL_FILE);
	facts.shut_down_in_recovery = was_shut_down_in_recovery();
	if (facts.standby_signal && facts.recovery_signal)
		ereport(WARNING,
				(errmsg("the data directory has both \"%s\" and \"%s\"",
						STANDBY_SIGNAL_FILE, RECOVERY_SIGNAL_FILE),
				 errdetail("Promotion removes the first one only: after the next restart sfflow takes this server for a restored copy and drives nothing."),
				 errhint("Remove \"%s\".", RECOVERY_SIGNAL_FILE)));
	return facts;
}

/* What cannot be written must not stay as it was: without a file this is a copy. */
static void
remove_stale_file(void)
{
	if (unlink(INSTANCE_FILE) != 0 && errno != ENOENT)
		ereport(FATAL,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", INSTANCE_FILE),
				 errdetail("With the file as it is, this data directory might run what another one runs.")));
}

/*
 * Decide what this data directory is and write it down; from _PG_init in the
 * postmaster, before recovery, and in a single-user server.
 */
void
sf_instance_file_start(void)
{
	InstanceFile found = {0, SF_DIRECTORY_COPY};
	bool		own = read_file(&found);
	SfCopyFacts facts = gather_facts(own, found.kind);
	SfCopyDecision decision = sf_copy_decide(&facts);

	current.kind = decision.kind;
	current.id = decision.keep_id ? found.id : new_id();
	if (own && current.kind == found.kind && current.id == found.id)
		return;
	if (!write_file(&current))
		remove_stale_file();
}

/* Read the kind anew; the id does not change while the server runs. */
void
sf_instance_file_reread(void)
{
	InstanceFile found;

	if (read_file(&found) && found.id == current.id)
		current.kind = found.kind;
}

/* --- while the server runs --- */

/* Id of this data directory; 0: there is none, or the file is a copy. */
int64
sf_instance_file_id(void)
{
	InstanceFile found;

	/* not preloaded: a session may have made the file since */
	if (current.id == 0 && read_file(&found))
		current = found;
	return current.id;
}

/* What this data directory was when the server started, or is since. */
SfDirectoryKind
sf_instance_file_kind(void)
{
	return current.kind;
}

/* Read the id of this data directory; make the file where it has none of its own. */
static void
require_file(void)
{
	InstanceFile found;

	if (read_file(&found) && (current.id == 0 || found.id == current.id))
	{
		current = found;
		return;
	}
	found.kind = current.kind;
	found.id = current.id != 0 ? current.id : new_id();
	if (!write_file(&found))
		ereport(ERROR,
				(errcode(ERRCODE_IO_ERROR),
				 errmsg("could not write file \"%s\" in the data directory", INSTANCE_FILE),
				 errdetail("It tells this data directory from its copies; the log of the server has the reason.")));
	current = found;
}

/*
 * Id of this data directory; makes the file where it has none of its own.  One
 * session at a time in the whole cluster does so.  The file knows no
 * transaction, so the lock ends here and not with the caller's transaction.
 */
int64
sf_instance_file_require(void)
{
	PreventCommandIfReadOnly("sf_enable()");
	LockSharedObject(DatabaseRelationId, InvalidOid, FILE_LOCK_SUBID, ExclusiveLock);
	require_file();
	UnlockSharedObject(DatabaseRelationId, InvalidOid, FILE_LOCK_SUBID, ExclusiveLock);
	return current.id;
}

/* Write down that all databases were looked at; false when that failed. */
bool
sf_instance_file_write_settled(void)
{
	InstanceFile settled = {current.id, SF_DIRECTORY_SETTLED};

	if (!write_file(&settled))
		return false;
	current = settled;
	return true;
}
