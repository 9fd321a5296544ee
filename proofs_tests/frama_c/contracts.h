// contracts.h: the words of the contracts that stand as comments in kernels/, in ACSL. contracts.test.mjs puts it
// before the scalar text of a kernel file, where each register is one float.

// No size comes near 2^64: an index never wraps.
#define MOST 0x0fffffffffffffff
#define PURE assigns \nothing;
// What is said of the first n lanes of an operation's result; nothing, but of sums.
#define LANES_OF_v16_add(y, n)                                                                               \
    \forall integer j; 0 <= j < n ==> word(y.r[j]) == plus(word(a.r[j]), word(b.r[j]))
#define LANES_OF_v16_sub(y, n) \true
#define LANES_OF_v16_mul(y, n) \true
#define LANES_OF_v16_div(y, n) \true
#define LANES_OF_v16_max(y, n) \true
#define LANES_OF_v16_min(y, n) \true
#define LANES_OF_v16_lt(y, n) \true
#define LANES_OF_v16_le(y, n) \true
#define LANES_OF_v16_eq(y, n) \true
#define LANES_OF_v16_sqrt(y, n) \true
#define LANES_OF_v16_abs(y, n) \true
#define LANES_OF_v16_neg(y, n) \true
#define LANES_OF_v16_swap_pairs(y, n) \true
#define LANES_OF_v16_even_pairs(y, n) \true
#define LANES_OF_v16_odd_pairs(y, n) \true
// A loop over the registers of a group that writes y and has done so to the first r.
#define EACH(y, done)                                                                                        \
    loop invariant 0 <= r <= 16 && (done);                                                                   \
    loop assigns r, y[0 .. 15];                                                                              \
    loop variant 16 - r;
// V16_SUM after i_ elements, by the first word of what it sums.
#define SUMMED_LOAD(x) \forall integer j; 0 <= j < 16 ==> word(sum_.r[j]) == lane(x, n, i_ / 16, j)
#define TAIL_LOAD(x) assert groups(n) == (i_ < n_ ? i_ / 16 + 1 : i_ / 16);
#define STEP_LOAD(x)                                                                                         \
    assert \forall integer j; 0 <= j < 16 ==>                                                                \
        word(sum_.r[j]) == plus(lane(x, n, i_ / 16, j), padded(x, n, i_ + j));
#define LAST_LOAD(x) assert \forall integer j; 0 <= j < 16 ==> word(sum_.r[j]) == lane(x, n, i_ / 16 + 1, j);
#define WHOLE_LOAD(x) assert \forall integer j; 0 <= j < 16 ==> word(sum_.r[j]) == lane(x, n, groups(n), j);
#define SUMMED_v16_mul(x, y) \true
#define TAIL_v16_mul(x, y) assert \true;
#define STEP_v16_mul(x, y) assert \true;
#define LAST_v16_mul(x, y) assert \true;
#define WHOLE_v16_mul(x, y) assert \true;
// A step of the tree: lanes i and i + half met, below i.
#define FOLD(half, one) FOLD_##one(half)
#define FOLD_one_add(half) FOLD_one_max(half)
#define FOLD_one_max(half)                                                                                   \
    loop invariant 0 <= i <= half;                                                                           \
    loop assigns i, x.r[0 .. half - 1];                                                                      \
    loop variant half - i;
#define FOLDED_v16_hsum \true
#define FOLDED_v16_hmax \true

/*@ axiomatic binary32 {
      type bits;              // a float, to the bit: == between floats would be that of real numbers
      logic bits word(float a);
      logic bits plus(bits a, bits b);
      logic float float_add(float a, float b); // C's a + b in binary32, to nearest even: seqmix.driver
      axiom plus_is_add: \forall float a, b; word(float_add(a, b)) == plus(word(a), word(b));
    }
    // Rounding.v: padded, lane, groups, fold and hsum, row_sum, as they stand there.
    logic bits padded(float *x, integer n, integer i) = i < n ? word(x[i]) : word((float)0.0);
    logic bits lane(float *x, integer n, integer g, integer i) =
        g <= 0 ? word((float)0.0) : plus(lane(x, n, g - 1, i), padded(x, n, 16 * (g - 1) + i));
    logic integer groups(integer n) = (n + 15) / 16;
    logic bits fold8(float *x, integer n, integer i) =
        plus(lane(x, n, groups(n), i), lane(x, n, groups(n), i + 8));
    logic bits fold4(float *x, integer n, integer i) = plus(fold8(x, n, i), fold8(x, n, i + 4));
    logic bits fold2(float *x, integer n, integer i) = plus(fold4(x, n, i), fold4(x, n, i + 2));
    logic bits row_sum_of(float *x, integer n) = plus(fold2(x, n, 0), fold2(x, n, 1));
    lemma rows: \forall integer i, n, d; 0 <= i < n && 0 <= d ==> 0 <= i * d && i * d + d <= n * d;
*/
/*@ assigns \nothing; */
float __builtin_sqrtf(float x);
/*@ assigns \nothing; */
float __builtin_inff(void);
