// landmark_scratch.c: how much scratch the kernels of landmark.c need. The same for every instruction set.
#include "landmark_layout.h"

size_t smx_landmark_fwd_scratch_bytes(const smx_landmark *p) {
    return size_floats(landmark_layout_of(p, 0).floats);
}
size_t smx_landmark_bwd_scratch_bytes(const smx_landmark *p) {
    return size_floats(landmark_layout_of(p, 1).floats);
}
