#define _XOPEN_SOURCE 700
#include "tests/unit/fake_root.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];

const char *
pt_root_make(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(root, sizeof root, "%s/penstock-root-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(root));
	return root;
}

void
pt_root_file(const char *path, const char *text)
{
	char whole[1024], *slash;
	FILE *file;

	snprintf(whole, sizeof whole, "%s%s", root, path);
	for (slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
	file = fopen(whole, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static int
remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info, (void)type, (void)where;
	return remove(path);
}

void
pt_root_remove(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
