// layer_names.h: what reference implementations call the weights of a layer, and how they lay them out.
#ifndef CLI_LAYER_NAMES_H
#define CLI_LAYER_NAMES_H

typedef enum {
    LAYOUT_LINEAR,  // theirs [out][in], torch.nn.Linear's: ours [in][out], side by side along out
    LAYOUT_COLUMNS, // theirs [in][out] as ours, side by side along out
    LAYOUT_FILTERS, // theirs [channels][1][taps], the row itself last: ours [channels][taps], first
    LAYOUT_SAME,    // as ours, vectors one after another
    LAYOUT_ROW,     // theirs [1][1][columns]: ours [columns]
    LAYOUT_HEADS,   // theirs [heads][columns]: ours [heads columns]
    LAYOUT_SHARED,  // theirs [columns of one head], which all heads share: ours [heads columns]
    LAYOUT_BUFFER   // no weight: passed over
} layer_layout;

typedef struct {
    const char *theirs, *ours; // "c_attn.weight", "w_q w_k w_v"
    layer_layout layout;
} layer_row;

typedef struct {
    const char *name, *title;
    const char *config; // the mixer that has these weights
    const char *prefix; // before each of their names; {} is the number of the block
    const char *source; // where the names stand: repository, commit, file
    const layer_row *rows;
} layer_names;

extern const layer_names layer_tables[]; // ends with a NULL name
const layer_names *layer_find(const char *name);
const char *layer_layout_text(layer_layout layout);

#endif
