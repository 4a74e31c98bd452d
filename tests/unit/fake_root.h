/* A directory that stands for / in tests of what is read from /proc and /sys. */
#ifndef PT_FAKE_ROOT_H
#define PT_FAKE_ROOT_H

/* Makes an empty one; returns its path, valid until the next call. */
const char *pt_root_make(void);

/* A file in it, with the directories on the way. */
void pt_root_file(const char *path, const char *text);

/* Removes it with all it holds. */
void pt_root_remove(void);

#endif
