// idx.c: see idx.h. Reads what it is given and trusts none of it.
#include "idx.h"

#include "data.h"

static uint32_t big_endian(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

// Header of magic and `dimensions` sizes; the first size is the count, an item has item_bytes.
static int header(uint32_t *count, const uint8_t *bytes, size_t size, const char *name, unsigned dimensions,
                  size_t item_bytes, const char *what, smx_error *error) {
    size_t head = 4 + 4 * (size_t)dimensions;
    uint32_t magic = 0x800 + dimensions;
    if (size < head)
        return data_fail(error, "data", name, "%zu bytes, less than the IDX header of %zu", size, head);
    if (big_endian(bytes) != magic)
        return data_fail(error, "data", name, "starts with 0x%08x where IDX %s start with 0x%08x",
                         (unsigned)big_endian(bytes), what, (unsigned)magic);
    *count = big_endian(bytes + 4);
    if (*count == 0) return data_fail(error, "data", name, "holds no %s", what);
    if (dimensions == 3 && (big_endian(bytes + 8) != IDX_SIDE || big_endian(bytes + 12) != IDX_SIDE))
        return data_fail(error, "data", name, "holds images of %ux%u, only 28x28 are read",
                         (unsigned)big_endian(bytes + 8), (unsigned)big_endian(bytes + 12));
    uint64_t need = head + (uint64_t)*count * item_bytes;
    if (size != need)
        return data_fail(error, "data", name, "%zu bytes where %u %s take %llu: the file is %s", size,
                         (unsigned)*count, what, (unsigned long long)need,
                         size < need ? "cut short" : "too long");
    return 0;
}

int idx_open(idx_set *set, const uint8_t *images, size_t images_size, const char *images_name,
             const uint8_t *labels, size_t labels_size, const char *labels_name, smx_error *error) {
    uint32_t n, m;
    if (header(&n, images, images_size, images_name, 3, IDX_PIXELS, "images", error)) return -1;
    if (header(&m, labels, labels_size, labels_name, 1, 1, "labels", error)) return -1;
    if (n != m)
        return data_fail(error, "data", labels_name, "%u labels for the %u images of %s", (unsigned)m,
                         (unsigned)n, images_name);
    for (uint32_t i = 0; i < m; i++)
        if (labels[8 + i] > 9)
            return data_fail(error, "data", labels_name, "label %u is %u, not a digit", (unsigned)i,
                             labels[8 + i]);
    *set = (idx_set){images + 16, labels + 8, n};
    return 0;
}
