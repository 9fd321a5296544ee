// labelled.h: labelled texts, sounds and images in files that users have: a folder of folders, tab-separated
// lines, CIFAR-10's binary files. Native programs only. Everything is read when it is opened; what is wrong
// with a file is said in a sentence that names it, about the key "folder".
#ifndef SMX_LABELLED_H
#define SMX_LABELLED_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>

enum { LABELLED_CLASSES = 1024, CIFAR_PIXELS = 1024 };

typedef struct {
    const uint8_t *bytes; // a text, an image's 3 x 1,024 bytes, or 16-bit samples
    size_t size;          // in bytes
    int32_t label;
} labelled_item;

typedef struct {
    labelled_item *train, *test;
    size_t trains, tests, classes;
    uint8_t **owned; // what the items point into
    size_t owners;
} labelled_set;

// Where the files are: `name` as it stands if it has a slash, else in $SEQMIX_DATA or data. 0, or -1.
int labelled_place(char *path, size_t size, const char *name, smx_error *error);

// A folder with data_batch_1.bin ... data_batch_5.bin (one at least) and test_batch.bin.
int labelled_cifar(labelled_set *set, const char *folder, smx_error *error);
// A file of lines LABEL, tab, text, of which every tenth is kept for evaluation; a folder with train.tsv and
// test.tsv; or folders: CLASS/FILE (every tenth file of a class in order of name is kept), or
// train/CLASS/FILE and test/CLASS/FILE.
int labelled_texts(labelled_set *set, const char *path, smx_error *error);
// Folders CLASS/FILE.wav of 16-bit sounds of one channel, as above; where there is a testing_list.txt, what
// it names is kept for evaluation. Folders whose names begin with _ or . are none. most: recordings of each
// class that are read, 0: all.
int labelled_sounds(labelled_set *set, const char *folder, size_t most, smx_error *error);
void labelled_free(labelled_set *set);

// ---- The formats, of bytes in memory that stay the caller's; nothing of them is trusted.

// *count images of 1 + 3,072 bytes.
int cifar_open(size_t *count, const uint8_t *bytes, size_t size, const char *name, smx_error *error);
typedef struct {
    const uint8_t *samples; // 16 bits each, little-endian
    size_t count, rate;
} wav_sound;
int wav_open(wav_sound *sound, const uint8_t *bytes, size_t size, const char *name, smx_error *error);
// The next line of a table at *at, or 1 behind the last, -1 where one has no tab. line counts from 1.
typedef struct {
    const uint8_t *label, *text;
    size_t label_size, text_size;
} tsv_line;
int tsv_next(tsv_line *line, size_t *at, size_t *number, const uint8_t *bytes, size_t size, const char *name,
             smx_error *error);

#endif
