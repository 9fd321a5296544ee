// data.h: files for the tasks that read some (MNIST, texts), handed over in memory instead of found on disk.
#ifndef SMX_DATA_H
#define SMX_DATA_H

#include <stddef.h>

#include <seqmix/error.h>

#ifdef __cplusplus
extern "C" {
#endif

// Hand over a file: `name` is what data_open will ask for ("train-images-idx3-ubyte", a text's name). The
// bytes are copied (and unpacked if they are gzip, natively); a file of that name handed over before is
// forgotten. bytes = NULL only forgets.
int smx_data_provide(const char *name, const void *bytes, size_t size, smx_error *error);

#ifdef __cplusplus
}
#endif
#endif
