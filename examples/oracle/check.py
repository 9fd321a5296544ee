"""Judge a function of your own by the oracle, with ctypes and NumPy: nothing to build.

    python3 check.py [PATH/libseqmix_ref.so]
"""
import ctypes, sys
import numpy as np

ref = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libseqmix_ref.so.0")
size, real = ctypes.c_size_t, ctypes.c_double


class Attention(ctypes.Structure):  # ref_attention of ref.h
    _fields_ = [("B", size), ("L", size), ("D", size), ("H", size), ("stride", size), ("causal", ctypes.c_int),
                ("scale", real), ("mult", ctypes.c_void_p), ("bias", ctypes.c_void_p), ("chunk", size), ("masked", size)]


def oracle(q, k, v, heads):
    """Causal softmax attention of [B][L][D] float64 arrays."""
    q, k, v = (np.ascontiguousarray(x, np.float64) for x in (q, k, v))
    B, L, D = q.shape
    o, stats = np.empty_like(q), np.empty((B, heads, L, 2))
    p = Attention(B=B, L=L, D=D, H=heads, stride=D, causal=1, scale=(D // heads) ** -0.5)
    ref.ref_attention_fwd(*(ctypes.c_void_p(x.ctypes.data) for x in (o, stats, q, k, v)), ctypes.byref(p))
    return o


def mine(q, k, v, heads):
    """What is to be judged: here NumPy in float32."""
    B, L, D = q.shape
    q, k, v = (x.reshape(B, L, heads, D // heads).swapaxes(1, 2) for x in (q, k, v))
    s = q @ k.swapaxes(2, 3) / np.float32((D // heads) ** 0.5)
    s[:, :, np.triu(np.ones((L, L), bool), 1)] = -np.inf
    a = np.exp(s - s.max(-1, keepdims=True))
    return (a / a.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(B, L, D)


rng = np.random.default_rng(1)
q, k, v = (rng.standard_normal((2, 40, 32)).astype(np.float32) for _ in range(3))
right = oracle(q, k, v, 4)
error = abs(mine(q, k, v, 4) - right).max() / abs(right).max()
print(f"largest error {error:.2g} of the scale; 2e-05 is allowed")
sys.exit(0 if error <= 2e-5 else 1)  # a NaN fails
