// labelled.c: see labelled.h: folders and files on disk, not part of the WebAssembly modules.
#include "labelled.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data.h"

void labelled_free(labelled_set *set) {
    for (size_t i = 0; i < set->owners; i++) free(set->owned[i]);
    free(set->owned);
    free(set->train);
    free(set->test);
    *set = (labelled_set){NULL, NULL, 0, 0, 0, NULL, 0};
}

enum { PATH = 4096 };

static int no_memory(const char *name, smx_error *error) {
    return data_fail(error, "folder", name, "there is no memory for it");
}

int labelled_place(char *path, size_t size, const char *name, smx_error *error) {
    const char *folders[] = {getenv("SEQMIX_DATA"), "data"};
    struct stat st;
    if (strchr(name, '/')) {
        if ((size_t)snprintf(path, size, "%s", name) < size && !stat(path, &st)) return 0;
        return data_fail(error, "folder", name, "there is no such folder or file");
    }
    for (int i = 0; i < 2; i++)
        if (folders[i] && *folders[i] && (size_t)snprintf(path, size, "%s/%s", folders[i], name) < size &&
            !stat(path, &st))
            return 0;
    return data_fail(error, "folder", name, "not found in $SEQMIX_DATA or data%s",
                     *name ? "; with a slash it is a path" : "");
}

static int is_folder(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}
static int exists(const char *path) {
    struct stat st;
    return !stat(path, &st);
}
// path = a/b, or -1 with the error.
static int join(char path[PATH], const char *a, const char *b, smx_error *error) {
    return snprintf(path, PATH, "%s/%s", a, b) < PATH
               ? 0
               : data_fail(error, "folder", a, "its paths are too long");
}

// A regular file's bytes, which the set owns. 0, or -1.
static int take_file(labelled_set *set, const char *path, uint8_t **bytes, size_t *size, smx_error *error) {
    struct stat st;
    if (stat(path, &st)) return data_fail(error, "folder", path, "cannot be read: %s", strerror(errno));
    if (!S_ISREG(st.st_mode)) return data_fail(error, "folder", path, "is no regular file");
    if (st.st_size > DATA_MOST) return data_fail(error, "folder", path, "more than %d bytes", DATA_MOST);
    if ((set->owners & (set->owners + 1)) == 0) { // room for twice as many
        uint8_t **more = realloc(set->owned, (2 * set->owners + 2) * sizeof *more);
        if (!more) return no_memory(path, error);
        set->owned = more;
    }
    FILE *f = fopen(path, "rb");
    if (!f) return data_fail(error, "folder", path, "cannot be read: %s", strerror(errno));
    *bytes = malloc((size_t)st.st_size + 1);
    if (*bytes) set->owned[set->owners++] = *bytes;
    *size = *bytes ? fread(*bytes, 1, (size_t)st.st_size, f) : 0;
    const int bad = ferror(f);
    fclose(f);
    if (!*bytes) return no_memory(path, error);
    return bad ? data_fail(error, "folder", path, "cannot be read") : 0;
}

static int add(labelled_item **items, size_t *n, labelled_item item, const char *name, smx_error *error) {
    if ((*n & (*n + 1)) == 0) {
        labelled_item *more = realloc(*items, (2 * *n + 2) * sizeof *more);
        if (!more) return no_memory(name, error);
        *items = more;
    }
    (*items)[(*n)++] = item;
    return 0;
}
static int add_to(labelled_set *set, int test, labelled_item item, const char *name, smx_error *error) {
    return test ? add(&set->test, &set->tests, item, name, error)
                : add(&set->train, &set->trains, item, name, error);
}

static int whole(const labelled_set *set, const char *name, smx_error *error) {
    if (set->classes < 2)
        return data_fail(error, "folder", name, "holds %zu classes; two at least are wanted", set->classes);
    if (!set->trains || !set->tests)
        return data_fail(error, "folder", name, "holds nothing to %s on", set->trains ? "evaluate" : "train");
    return 0;
}

// ---- CIFAR-10

static int add_cifar(labelled_set *set, const char *path, int test, smx_error *error) {
    uint8_t *bytes;
    size_t size, n;
    if (take_file(set, path, &bytes, &size, error) || cifar_open(&n, bytes, size, path, error)) return -1;
    for (size_t i = 0; i < n; i++, bytes += 1 + 3 * CIFAR_PIXELS)
        if (add_to(set, test, (labelled_item){bytes + 1, 3 * CIFAR_PIXELS, bytes[0]}, path, error)) return -1;
    return 0;
}

int labelled_cifar(labelled_set *set, const char *folder, smx_error *error) {
    char path[PATH], name[32];
    set->classes = 10;
    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "data_batch_%d.bin", i);
        if (join(path, folder, name, error)) return -1;
        if ((i == 1 || exists(path)) && add_cifar(set, path, 0, error)) return -1;
    }
    if (join(path, folder, "test_batch.bin", error) || add_cifar(set, path, 1, error)) return -1;
    return whole(set, folder, error);
}

// ---- Names of classes, in order

typedef struct {
    char *name[LABELLED_CLASSES];
    size_t n;
} names;

static void names_free(names *list) {
    for (size_t i = 0; i < list->n; i++) free(list->name[i]);
    list->n = 0;
}
static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int names_add(names *list, const char *text, size_t n, const char *of, smx_error *error) {
    for (size_t i = 0; i < list->n; i++)
        if (strlen(list->name[i]) == n && !memcmp(list->name[i], text, n)) return 0;
    if (list->n == LABELLED_CLASSES)
        return data_fail(error, "folder", of, "more than %d classes", LABELLED_CLASSES);
    char *copy = malloc(n + 1);
    if (!copy) return no_memory(of, error);
    memcpy(copy, text, n);
    copy[n] = 0;
    list->name[list->n++] = copy;
    return 0;
}
static int32_t names_find(const names *list, const char *text, size_t n) {
    for (size_t i = 0; i < list->n; i++)
        if (strlen(list->name[i]) == n && !memcmp(list->name[i], text, n)) return (int32_t)i;
    return -1;
}

// ---- Tables

static int tsv_labels(names *list, const uint8_t *bytes, size_t size, const char *path, smx_error *error) {
    tsv_line line;
    size_t at = 0, number = 0;
    int status;
    while (!(status = tsv_next(&line, &at, &number, bytes, size, path, error)))
        if (names_add(list, (const char *)line.label, line.label_size, path, error)) return -1;
    return status < 0 ? -1 : 0;
}

// test: -1: every tenth line
static int add_tsv(labelled_set *set, const names *list, int test, const uint8_t *bytes, size_t size,
                   const char *path, smx_error *error) {
    tsv_line line;
    size_t at = 0, number = 0, n = 0;
    int status;
    while (!(status = tsv_next(&line, &at, &number, bytes, size, path, error))) {
        const int32_t label = names_find(list, (const char *)line.label, line.label_size);
        if (label < 0)
            return data_fail(error, "folder", path, "line %zu has a label that training lacks", number);
        if (add_to(set, test < 0 ? n++ % 10 == 9 : test, (labelled_item){line.text, line.text_size, label},
                   path, error))
            return -1;
    }
    return status < 0 ? -1 : 0;
}

static int read_tsv(labelled_set *set, names *list, const char *train, const char *test, smx_error *error) {
    uint8_t *bytes, *more;
    size_t size, more_size;
    if (take_file(set, train, &bytes, &size, error) || tsv_labels(list, bytes, size, train, error)) return -1;
    qsort(list->name, list->n, sizeof *list->name, by_name);
    if (add_tsv(set, list, test ? 0 : -1, bytes, size, train, error)) return -1;
    if (!test) return 0;
    return take_file(set, test, &more, &more_size, error) ||
                   add_tsv(set, list, 1, more, more_size, test, error)
               ? -1
               : 0;
}

// ---- Folders

// The names in a folder, in order: folders or files. NULL with the error; *n of them.
static char **list_folder(const char *path, int folders, const char *ending, size_t *n, smx_error *error) {
    DIR *d = opendir(path);
    char **list = NULL, whole_path[PATH];
    *n = 0;
    if (!d) {
        data_fail(error, "folder", path, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    int status = 0;
    for (struct dirent *e; !status && (errno = 0, e = readdir(d));) {
        const size_t have = strlen(e->d_name), wants = strlen(ending);
        if (e->d_name[0] == '.' || e->d_name[0] == '_' || have < wants ||
            strcmp(e->d_name + have - wants, ending))
            continue;
        if (join(whole_path, path, e->d_name, error)) status = -1;
        if (status || is_folder(whole_path) != folders) continue;
        if ((*n & (*n + 1)) == 0) {
            char **more = realloc(list, (2 * *n + 2) * sizeof *more);
            if (more) list = more;
            if (!more) status = no_memory(path, error);
        }
        if (!status && !(list[*n] = strdup(e->d_name))) status = no_memory(path, error);
        *n += !status;
    }
    if (!status && errno)
        status = data_fail(error, "folder", path, "cannot be read to its end: %s", strerror(errno));
    closedir(d);
    if (!status && *n) {
        qsort(list, *n, sizeof *list, by_name);
        return list;
    }
    if (!status) data_fail(error, "folder", path, "holds no %s", folders ? "folders of classes" : "files");
    for (size_t i = 0; i < *n; i++) free(list[i]);
    free(list);
    return NULL;
}

// What is kept for evaluation: by a list of CLASS/FILE lines, or every tenth.
static int kept(const char *list, const char *class, const char *file, size_t i) {
    char line[PATH]; // that of the file is longer
    if (!list) return i % 10 == 9;
    const size_t n = (size_t)snprintf(line, sizeof line, "%s/%s", class, file);
    for (const char *at = strstr(list, line); at; at = strstr(at + 1, line))
        if ((at == list || at[-1] == '\n') && (!at[n] || at[n] == '\n' || at[n] == '\r')) return 1;
    return 0;
}

typedef struct {
    const char *ending;
    int sounds;
    size_t most; // files of a class, 0: all
} reading;

// CLASS/FILE below `path`; test as in add_tsv. classes: those of training, in order; found the first time.
static int add_folder(labelled_set *set, names *classes, const reading *r, const char *path, const char *list,
                      int test, smx_error *error) {
    size_t n, files;
    char class[PATH], file[PATH];
    char **folder = list_folder(path, 1, "", &n, error);
    if (!folder) return -1;
    int status = 0;
    const int first = classes->n == 0;
    for (size_t c = 0; c < n && !status && first; c++)
        status = names_add(classes, folder[c], strlen(folder[c]), path, error);
    for (size_t c = 0; c < n && !status; c++) {
        const int32_t label = names_find(classes, folder[c], strlen(folder[c]));
        if (label < 0)
            status =
                data_fail(error, "folder", path, "the class %.60s is not among those of training", folder[c]);
        if (status || (status = join(class, path, folder[c], error))) break;
        char **names_of = list_folder(class, 0, r->ending, &files, error);
        status = names_of ? 0 : -1;
        for (size_t i = 0; names_of && i < files; i++) {
            if (!status && (!r->most || i < r->most)) {
                labelled_item item = {NULL, 0, label};
                uint8_t *bytes;
                wav_sound sound;
                status =
                    join(file, class, names_of[i], error) || take_file(set, file, &bytes, &item.size, error);
                if (!status && r->sounds && !(status = wav_open(&sound, bytes, item.size, file, error))) {
                    bytes = (uint8_t *)sound.samples;
                    item.size = 2 * sound.count;
                }
                item.bytes = bytes;
                if (!status)
                    status = add_to(set, test < 0 ? kept(list, folder[c], names_of[i], i) : test, item, file,
                                    error);
            }
            free(names_of[i]);
        }
        free(names_of);
    }
    for (size_t c = 0; c < n; c++) free(folder[c]);
    free(folder);
    return status ? -1 : 0;
}

static int read_folders(labelled_set *set, names *classes, const reading *r, const char *path,
                        smx_error *error) {
    char train[PATH], test[PATH], list[PATH];
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (join(train, path, "train", error) || join(test, path, "test", error) ||
        join(list, path, "testing_list.txt", error))
        return -1;
    if (is_folder(train) && is_folder(test))
        return add_folder(set, classes, r, train, NULL, 0, error) ||
                       add_folder(set, classes, r, test, NULL, 1, error)
                   ? -1
                   : 0;
    if (exists(list) && take_file(set, list, &bytes, &size, error)) return -1;
    if (bytes) bytes[size] = 0;
    return add_folder(set, classes, r, path, (const char *)bytes, -1, error);
}

int labelled_texts(labelled_set *set, const char *path, smx_error *error) {
    char train[PATH], test[PATH];
    names list = {.n = 0};
    int status;
    if (join(train, path, "train.tsv", error) || join(test, path, "test.tsv", error)) return -1;
    if (!is_folder(path))
        status = read_tsv(set, &list, path, NULL, error);
    else if (exists(train))
        status = read_tsv(set, &list, train, test, error);
    else
        status = read_folders(set, &list, &(reading){"", 0, 0}, path, error);
    set->classes = list.n;
    names_free(&list);
    return status ? -1 : whole(set, path, error);
}

int labelled_sounds(labelled_set *set, const char *folder, size_t most, smx_error *error) {
    names list = {.n = 0};
    const int status = read_folders(set, &list, &(reading){".wav", 1, most}, folder, error);
    set->classes = list.n;
    names_free(&list);
    return status ? -1 : whole(set, folder, error);
}
