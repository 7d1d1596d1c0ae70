/*
 * archive_folder.c
 *		An archive in a folder.
 *
 * A file is written in TARGET/tmp and then renamed, so that what is in TARGET/data and TARGET/manifests is whole.  The
 * folder has to exist: one that was to be mounted, and is not, must not be filled.
 */
#include "postgres_fe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/sfworker/archive/archive.h"

static char *root;

/* Say why a path cannot be used. */
static bool
refuse(char **problem, const char *what, const char *path)
{
	*problem = psprintf("cannot %s \"%s\": %s", what, path, strerror(errno));
	return false;
}

/* Have what was renamed in a folder on disk. */
static bool
sync_folder(const char *path, char **problem)
{
	int			fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool		ok = fd >= 0 && fsync(fd) == 0;

	if (!ok)
		(void) refuse(problem, "write into folder", path);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Make a folder in the archive, if it is not there. */
static bool
make_folder(const char *name, char **problem)
{
	char	   *path = psprintf("%s/%s", root, name);
	bool		ok = mkdir(path, 0777) == 0 || errno == EEXIST || refuse(problem, "make folder", path);

	free(path);
	return ok;
}

/* Find the folder and make those in it. */
static bool
begin(const char *target, char **problem)
{
	struct stat st;

	if (stat(target, &st) != 0)
		return refuse(problem, "find folder", target);
	if (!S_ISDIR(st.st_mode))
	{
		*problem = psprintf("\"%s\" is not a folder", target);
		return false;
	}
	free(root);
	root = pg_strdup(target);
	return make_folder("data", problem) && make_folder("manifests", problem) && make_folder("tmp", problem) &&
		sync_folder(root, problem);
}

/* Remove what earlier attempts have left of a batch, which belongs to this program alone. */
static void
remove_left(const char *folder, const char *name)
{
	DIR		   *dir = opendir(folder);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		if (strncmp(entry->d_name, name, strlen(name)) == 0)
			(void) unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir != NULL)
		closedir(dir);
}

/* Make a file of a name that no other program has, beside those of the archive. */
static int
make_file(const char *name, char **path, char **problem)
{
	char	   *folder = psprintf("%s/tmp", root);
	int			fd;

	remove_left(folder, name);
	*path = psprintf("%s/%s-XXXXXX", folder, name);
	fd = mkostemp(*path, O_CLOEXEC);
	/* readers are other users, as the umask lets them */
	if (fd >= 0)
	{
		mode_t		mask = umask(0);

		umask(mask);
		(void) fchmod(fd, 0666 & ~mask);
	}
	else
		(void) refuse(problem, "write into folder", folder);
	free(folder);
	return fd;
}

/* Rename a file to where it belongs. */
static bool
put(const char *key, const char *type, SfwPacked *file, char **problem)
{
	char	   *path = psprintf("%s/%s", root, key);
	char	   *folder = pnstrdup(path, (size_t) (strrchr(path, '/') - path));
	bool		ok = rename(file->path, path) == 0 || refuse(problem, "write", path);

	if (ok)
	{
		free(file->path);
		file->path = NULL;
		ok = sync_folder(folder, problem);
	}
	free(folder);
	free(path);
	return ok;
}

const SfwStore sfw_store_folder = {begin, make_file, put};
