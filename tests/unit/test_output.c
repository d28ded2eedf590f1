/* Outputs are whole or not there: every way of ending one, on file systems with and without unnamed
 * files. The second kind is played by an openat() that refuses O_TMPFILE, put before the C
 * library's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/output.h"
#include "images/temporary.h"

static bool refuse_unnamed;
static char folder[PATH_MAX];

int openat(int directory, const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (refuse_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static int synced; /* a descriptor; -1: none */
static int sync_error;

int fdatasync(int fd)
{
    synced = fd;
    errno = sync_error;
    return sync_error ? -1 : 0;
}

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX + NAME_MAX + 2];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    assert_int_equal(size, strlen(text));
    assert_string_equal(found, text);
}

static size_t entries(void)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

/* Opens, writes "new" and leaves the rest to the caller. */
static GfOutput *begin(const char *path, bool replace)
{
    GfOutput *output;
    assert_int_equal(gf_output_open(path, replace, &output), GF_OK);
    assert_int_equal(gf_output_write(output, "new", 3), GF_OK);
    return output;
}

static void assert_refused(const char *path, bool replace, GfStatus status, const char *reason)
{
    GfOutput *output = (GfOutput *)&output;
    assert_int_equal(gf_output_open(path, replace, &output), status);
    assert_null(output);
    assert_non_null(strstr(gf_message(), reason));
}

static void a_new_file_appears_at_commit(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    GfOutput *output = begin(in_folder("a"), false);
    assert_int_equal(access(in_folder("a"), F_OK), -1);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    umask(mask);
    assert_null(output);
    assert_holds(in_folder("a"), "new");
    assert_int_equal(mode_of(in_folder("a")), 0640);
    assert_int_equal(entries(), 1);
}

static void what_is_synced_is_written_and_has_no_name_yet(void **state)
{
    (void)state;
    struct stat about;
    GfOutput *output = begin(in_folder("a"), false);
    synced = -1;
    sync_error = 0;
    assert_int_equal(gf_output_sync(output), GF_OK);
    assert_int_equal(fstat(synced, &about), 0);
    assert_int_equal(about.st_size, 3);
    assert_int_equal(access(in_folder("a"), F_OK), -1);
    sync_error = EIO;
    assert_int_equal(gf_output_sync(output), GF_EWRITE);
    sync_error = ENOSPC;
    assert_int_equal(gf_output_sync(output), GF_EFULL);
    sync_error = EINVAL; /* a file system that cannot */
    assert_int_equal(gf_output_sync(output), GF_OK);
    gf_output_discard(&output);
    assert_int_equal(gf_output_open("/dev/null", true, &output), GF_OK);
    synced = -1;
    assert_int_equal(gf_output_sync(output), GF_OK);
    assert_int_equal(synced, -1);
    gf_output_discard(&output);
}

static void a_discarded_output_leaves_nothing(void **state)
{
    (void)state;
    GfOutput *output = begin(in_folder("a"), false);
    gf_output_discard(&output);
    assert_null(output);
    gf_output_discard(&output);
    assert_int_equal(entries(), 0);
}

static void an_existing_file_is_kept_unless_replaced(void **state)
{
    (void)state;
    put(in_folder("a"), "old");
    assert_int_equal(chmod(in_folder("a"), 0604), 0);
    assert_refused(in_folder("a"), false, GF_EEXIST, "exists");
    GfOutput *output = begin(in_folder("a"), true);
    assert_holds(in_folder("a"), "old");
    gf_output_discard(&output);
    assert_holds(in_folder("a"), "old");
    output = begin(in_folder("a"), true);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    assert_holds(in_folder("a"), "new");
    assert_int_equal(mode_of(in_folder("a")), 0604);
    assert_int_equal(entries(), 1);
}

static void another_process_may_be_first(void **state)
{
    (void)state;
    GfOutput *output = begin(in_folder("a"), false);
    put(in_folder("a"), "theirs");
    assert_int_equal(gf_output_commit(&output), GF_EEXIST);
    assert_null(output);
    assert_holds(in_folder("a"), "theirs");
    output = begin(in_folder("b"), true);
    put(in_folder("b"), "theirs");
    assert_int_equal(gf_output_commit(&output), GF_OK);
    assert_holds(in_folder("b"), "new");
    assert_int_equal(entries(), 2);
}

static void two_outputs_of_one_name_do_not_mix(void **state)
{
    (void)state;
    GfOutput *first = begin(in_folder("a"), false), *second = begin(in_folder("a"), false);
    assert_int_equal(gf_output_write(second, "er", 2), GF_OK);
    assert_int_equal(gf_output_commit(&second), GF_OK);
    assert_int_equal(gf_output_commit(&first), GF_EEXIST);
    assert_holds(in_folder("a"), "newer");
    assert_int_equal(entries(), 1);
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    struct stat about;
    put(in_folder("target"), "old");
    assert_int_equal(symlink("target", in_folder("link")), 0);
    assert_refused(in_folder("link"), false, GF_EEXIST, "exists");
    GfOutput *output = begin(in_folder("link"), true);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    assert_int_equal(lstat(in_folder("link"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_holds(in_folder("target"), "new");
    assert_int_equal(symlink("nowhere", in_folder("dangling")), 0);
    assert_refused(in_folder("dangling"), true, GF_EEXIST, "symbolic link");
    assert_int_equal(entries(), 3);
}

static void the_longest_names_work(void **state)
{
    (void)state;
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[NAME_MAX] = '\0';
    for (int replace = 0; replace < 2; replace++) {
        GfOutput *output = begin(in_folder(name), replace);
        assert_int_equal(gf_output_commit(&output), GF_OK);
    }
    assert_int_equal(entries(), 1);
    name[NAME_MAX] = 'n';
    name[NAME_MAX + 1] = '\0';
    assert_refused(in_folder(name), false, GF_EWRITE, "too long");
}

static void places_that_take_no_file_are_named(void **state)
{
    (void)state;
    assert_refused(in_folder("missing/a"), false, GF_EWRITE, "directory does not exist");
    assert_refused(folder, true, GF_EWRITE, "directory");
    assert_refused(in_folder("new/"), false, GF_EWRITE, "directory");
    put(in_folder("file"), "");
    assert_refused(in_folder("file/a"), false, GF_EWRITE, "Not a directory");
}

static void writes_land_where_they_should(void **state)
{
    (void)state;
    enum { LARGE = 700001, TAIL = 5 };
    unsigned char *large = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (unsigned char)(i * 7 + i / 251);
    GfOutput *output = begin(in_folder("a"), false);
    assert_int_equal(gf_output_write_at(output, "tail!", TAIL, 3 + LARGE + 10), GF_OK);
    for (size_t done = 0, piece = 1; done < LARGE; done += piece, piece = piece * 3 + 1) {
        piece = piece > LARGE - done ? LARGE - done : piece;
        assert_int_equal(gf_output_write(output, large + done, piece), GF_OK);
    }
    assert_int_equal(gf_output_write_at(output, "N", 1, 0), GF_OK);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    unsigned char *found = malloc(LARGE + 100);
    FILE *file = fopen(in_folder("a"), "r");
    assert_int_equal(fread(found, 1, LARGE + 100, file), 3 + LARGE + 10 + TAIL);
    fclose(file);
    assert_memory_equal(found, "New", 3);
    assert_memory_equal(found + 3, large, LARGE);
    assert_memory_equal(found + 3 + LARGE, "\0\0\0\0\0\0\0\0\0\0tail!", 10 + TAIL);
    free(found);
    free(large);
}

/* The system refuses bytes beyond a size: as on a full disk, with another errno. */
static void a_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    put(in_folder("a"), "old");
    GfOutput *output = begin(in_folder("a"), true);
    unsigned char block[8192] = {0};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    GfStatus status = gf_output_write(output, block, sizeof block);
    GfStatus committed = gf_output_commit(&output);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, GF_OK); /* it is in the buffer */
    assert_int_equal(committed, GF_EWRITE);
    assert_non_null(strstr(gf_message(), strerror(EFBIG)));
    assert_null(strstr(gf_message(), "TMPDIR"));
    assert_holds(in_folder("a"), "old");
    assert_int_equal(entries(), 1);
}

/* What has no room is not where the bytes go in the end. */
static void a_full_temporary_directory_is_named(void **state)
{
    (void)state;
    static const unsigned char block[300000]; /* more than the buffer holds */
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    for (int named = 0; named < 2; named++) {
        GfOutput *output = named ? begin("/dev/null", false) : NULL;
        if (!named)
            assert_int_equal(gf_output_spool(&output), GF_OK);
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        GfStatus status = gf_output_write(output, block, sizeof block);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, GF_EWRITE);
        assert_non_null(strstr(gf_message(), "TMPDIR"));
        gf_output_discard(&output);
    }
}

static void devices_are_written_directly(void **state)
{
    (void)state;
    GfOutput *output = begin("/dev/null", false);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    output = begin("/dev/full", false);
    assert_int_equal(gf_output_commit(&output), GF_EFULL);
    assert_non_null(strstr(gf_message(), strerror(ENOSPC)));
    assert_null(output);
}

static void a_fifo_gets_the_bytes_in_order(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        char found[16];
        int fd = open(in_folder("fifo"), O_RDONLY);
        ssize_t size = 0, got;
        while ((got = read(fd, found + size, sizeof found - (size_t)size)) > 0)
            size += got;
        _exit(size == 6 && memcmp(found, "New123", 6) == 0 ? 0 : 1);
    }
    GfOutput *output = begin(in_folder("fifo"), false);
    assert_int_equal(gf_output_write(output, "123", 3), GF_OK);
    assert_int_equal(gf_output_write_at(output, "N", 1, 0), GF_OK);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(entries(), 1);
}

static void standard_output_gets_all_or_nothing(void **state)
{
    (void)state;
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    int fd = open(in_folder("out"), O_RDWR | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    GfOutput *output = begin("-", false);
    gf_output_discard(&output);
    off_t after_discard = lseek(fd, 0, SEEK_END);
    output = begin("-", false);
    GfStatus status = gf_output_commit(&output);
    bool still_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(fd);
    assert_int_equal(after_discard, 0);
    assert_int_equal(status, GF_OK);
    assert_true(still_open);
    assert_holds(in_folder("out"), "new");
}

/* More than a pipe holds, to a reader who is late. */
static void standard_output_may_be_non_blocking(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20 };
    static unsigned char bytes[SIZE], found[SIZE];
    int ends[2], result;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 257);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        ssize_t size = 0, got;
        close(ends[1]);
        usleep(20000);
        while ((got = read(ends[0], found + size, SIZE - (size_t)size)) > 0)
            size += got;
        _exit(size == SIZE && memcmp(found, bytes, SIZE) == 0 ? 0 : 1);
    }
    close(ends[0]);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    GfOutput *output;
    GfStatus status = gf_output_open("-", false, &output);
    if (status == GF_OK)
        status = gf_output_write(output, bytes, SIZE);
    if (status == GF_OK)
        status = gf_output_commit(&output);
    gf_output_discard(&output);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(status, GF_OK);
    assert_int_equal(result, 0);
}

static void no_descriptor_is_lost(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    for (int i = 0; i < 3; i++) {
        GfOutput *output = begin(in_folder("a"), true);
        assert_int_equal(gf_output_commit(&output), GF_OK);
        output = begin(in_folder("a"), true);
        gf_output_discard(&output);
        output = begin("/dev/null", true);
        assert_int_equal(gf_output_commit(&output), GF_OK);
        assert_refused(in_folder("missing/a"), false, GF_EWRITE, "");
    }
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

static void named_temporaries_can_be_removed_from_a_handler(void **state)
{
    (void)state;
    put(in_folder("old"), "old");
    enum { MANY = 300 };
    GfOutput *outputs[MANY];
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        outputs[i] = begin(in_folder(name), false);
    }
    assert_int_equal(entries(), refuse_unnamed ? 1 + MANY : 1);
    gf_temporaries_remove();
    assert_int_equal(entries(), 1);
    for (int i = 0; i < MANY; i++)
        gf_output_discard(&outputs[i]);
    assert_holds(in_folder("old"), "old");
}

static void what_killed_processes_leave_is_swept(void **state)
{
    (void)state;
    enum { KILLED = 3 };
    put(in_folder(".gpufilter-000000000000-0123456789abcdef"), "another machine's");
    put(in_folder(".gpufilter-mine"), "not ours");
    for (int i = 0; i < KILLED; i++) {
        pid_t child = fork();
        if (child == 0) {
            begin(in_folder("killed"), false);
            raise(SIGKILL);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    GfOutput *living = begin(in_folder("living"), false);
    assert_int_equal(entries(), refuse_unnamed ? 2 + KILLED + 1 : 2);
    assert_int_equal(gf_temporaries_sweep(folder), refuse_unnamed ? KILLED : 0);
    assert_int_equal(gf_temporaries_sweep(folder), 0);
    assert_int_equal(gf_temporaries_sweep(in_folder("missing")), 0);
    assert_int_equal(entries(), refuse_unnamed ? 2 + 1 : 2);
    assert_int_equal(gf_output_commit(&living), GF_OK);
    assert_holds(in_folder("living"), "new");
    assert_holds(in_folder(".gpufilter-mine"), "not ours");
}

static void what_is_spooled_can_be_read_back(void **state)
{
    (void)state;
    enum { SIZE = 700001 }; /* more than the buffer holds */
    static unsigned char written[SIZE], found[SIZE + 1];
    GfOutput *output;
    size_t got;
    for (size_t i = 0; i < SIZE; i++)
        written[i] = (unsigned char)(i * 31 + i / 257);
    assert_int_equal(gf_output_spool(&output), GF_OK);
    assert_int_equal(gf_output_write(output, written, 3), GF_OK);
    assert_int_equal(gf_output_read(output, found, 2, 1, &got), GF_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(found, written + 1, 2);
    for (size_t i = 3; i < SIZE; i += 9999) {
        size_t size = SIZE - i < 9999 ? SIZE - i : 9999;
        assert_int_equal(gf_output_write(output, written + i, size), GF_OK);
    }
    found[SIZE] = 0xA5;
    assert_int_equal(gf_output_read(output, found, SIZE + 1, 0, &got), GF_OK);
    assert_int_equal(got, SIZE);
    assert_memory_equal(found, written, SIZE);
    assert_int_equal(found[SIZE], 0xA5);
    assert_int_equal(gf_output_read(output, found, 5, SIZE, &got), GF_OK);
    assert_int_equal(got, 0);
    gf_output_discard(&output);
    assert_null(output);
    assert_int_equal(entries(), 0);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/gpufilter-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    return rmdir(folder);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_new_file_appears_at_commit),
        IN_FOLDER(what_is_synced_is_written_and_has_no_name_yet),
        IN_FOLDER(a_discarded_output_leaves_nothing),
        IN_FOLDER(an_existing_file_is_kept_unless_replaced),
        IN_FOLDER(another_process_may_be_first),
        IN_FOLDER(two_outputs_of_one_name_do_not_mix),
        IN_FOLDER(a_link_stays_a_link),
        IN_FOLDER(the_longest_names_work),
        IN_FOLDER(places_that_take_no_file_are_named),
        IN_FOLDER(writes_land_where_they_should),
        IN_FOLDER(a_full_disk_keeps_the_old_file),
        IN_FOLDER(a_full_temporary_directory_is_named),
        IN_FOLDER(devices_are_written_directly),
        IN_FOLDER(a_fifo_gets_the_bytes_in_order),
        IN_FOLDER(standard_output_gets_all_or_nothing),
        IN_FOLDER(standard_output_may_be_non_blocking),
        IN_FOLDER(no_descriptor_is_lost),
        IN_FOLDER(named_temporaries_can_be_removed_from_a_handler),
        IN_FOLDER(what_killed_processes_leave_is_swept),
        IN_FOLDER(what_is_spooled_can_be_read_back),
    };
    int failed = cmocka_run_group_tests_name("unnamed files", tests, NULL, NULL);
    refuse_unnamed = true;
    return failed + cmocka_run_group_tests_name("named temporaries", tests, NULL, NULL);
}
