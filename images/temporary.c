/* A process that is killed leaves the temporaries that had a name. A later one can tell them from
 * those in use by a lock, which the kernel drops with the last descriptor: unlike a process number
 * it means the same in every container and is never given to somebody else. Locks of other machines
 * need not be visible (NFS and Lustre can be mounted so), so the name says on which running system
 * it was drawn, and only that one's are judged. */
#include "images/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 1024, SYSTEM_DIGITS = 12, PREFIX_SIZE = 32 };
enum { FREE, TAKEN, ARMED };

typedef struct GfTemporarySlot {
    atomic_int state; /* FREE, TAKEN (being filled in), ARMED (to be removed by the handler) */
    int directory;
    char name[GF_TEMPORARY_SIZE];
} GfTemporarySlot;

static GfTemporarySlot slots[SLOTS];
static char prefix[PREFIX_SIZE]; /* of all names that are drawn on this running system */
static bool system_known;
static pthread_once_t prefix_once = PTHREAD_ONCE_INIT;

/* The kernel draws a random UUID whenever it starts; twelve of its digits tell systems apart. */
static void make_prefix(void)
{
    char digits[SYSTEM_DIGITS + 1] = "000000000000", text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        system_known = fgets(text, sizeof text, file) != NULL && strlen(text) >= 13;
        fclose(file);
    }
    if (system_known) /* xxxxxxxx-xxxx-... */
        snprintf(digits, sizeof digits, "%.8s%.4s", text, text + 9);
    snprintf(prefix, sizeof prefix, ".gpufilter-%s-", digits);
}

/* Removing a random name that was never created harms nobody, so the slot is armed before the name
 * exists. */
GfStatus gf_temporary_draw(int directory, GfTemporary *temporary)
{
    uint64_t random;
    pthread_once(&prefix_once, make_prefix);
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return gf_fail(GF_EWRITE, "no random numbers: %s", strerror(errno));
    snprintf(temporary->name, sizeof temporary->name, "%s%016llx", prefix,
             (unsigned long long)random);
    for (size_t i = 0; i < SLOTS && !temporary->slot; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, TAKEN))
            temporary->slot = &slots[i];
    }
    if (temporary->slot) {
        temporary->slot->directory = directory;
        memcpy(temporary->slot->name, temporary->name, sizeof temporary->name);
        atomic_store(&temporary->slot->state, ARMED);
    }
    return GF_OK;
}

/* Where there are no locks nobody else gets one either, so that the file stays. */
bool gf_temporary_hold(int fd, bool named)
{
    struct stat about;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return !named || fstat(fd, &about) != 0 || about.st_nlink > 0;
}

void gf_temporary_forget(GfTemporary *temporary)
{
    temporary->name[0] = '\0';
    if (temporary->slot)
        atomic_store(&temporary->slot->state, FREE);
    temporary->slot = NULL;
}

void gf_temporaries_remove(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].state) == ARMED)
            unlinkat(slots[i].directory, slots[i].name, 0);
}

/* Whoever names a file holds it first, or looks afterwards whether it was taken away. */
static bool remove_unheld(int directory, const char *name)
{
    struct stat about;
    int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool removed = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
                   flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(directory, name, 0) == 0;
    close(fd);
    return removed;
}

size_t gf_temporaries_sweep(const char *folder)
{
    size_t removed = 0;
    pthread_once(&prefix_once, make_prefix);
    DIR *directory = system_known ? opendir(folder) : NULL;
    if (!directory)
        return 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            remove_unheld(dirfd(directory), entry->d_name))
            removed++;
    closedir(directory);
    return removed;
}
