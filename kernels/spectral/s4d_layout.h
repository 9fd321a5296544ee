// s4d_layout.h: the block length of s4d.c. Also what scan_scratch.c reports.
#ifndef SMX_S4D_LAYOUT_H
#define SMX_S4D_LAYOUT_H

enum { S4D_BLOCK = 64 }; // e^{z (64 a + b)} = e^{64 z a} e^{z b}

#endif
