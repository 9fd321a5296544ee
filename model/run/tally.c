// tally.c: see tally.h.
#include "tally.h"

void tally_batch(tally *t, batch_graph *b) {
    size_t good;
    float mean;
    t->targets += batch_graph_forward(b, &mean);
    t->regression = !b->task.classes;
    t->text = b->task.task->bytes;
    for (size_t i = 0; i < b->rows; i++) {
        const double value = (double)b->row_values[i];
        t->loss += (double)b->row_loss[i];
        if (b->task.classes || value != value) continue;
        t->sum += value;
        t->squares += value * value;
    }
    t->right += batch_graph_right(b, &good);
    t->sequences += good;
}

void tally_result(const tally *t, uint64_t sequences, smx_evaluation *result) {
    const double per_target = t->targets ? 1.0 / (double)t->targets : 0.0,
                 per_sequence = sequences ? 1.0 / (double)sequences : 0.0;
    const double spread = t->squares - t->sum * t->sum * per_target, // of the targets about their mean
        accuracy = (double)t->right * per_target, sequence_accuracy = (double)t->sequences * per_sequence;
    *result = (smx_evaluation){.loss = t->loss * per_target,
                               .accuracy = accuracy,
                               .sequence_accuracy = sequence_accuracy,
                               .r2 = spread > 0.0 ? 1.0 - t->loss / spread : 0.0,
                               .free_accuracy = accuracy,
                               .free_sequence_accuracy = sequence_accuracy,
                               .targets = t->targets,
                               .sequences = sequences,
                               .regression = t->regression,
                               .text = t->text};
}
