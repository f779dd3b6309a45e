// Products of few rows with a large matrix, as in text generation. The matrix is read once, line after line,
// because processors prefetch one stream of memory about twice as fast as four.
import { floatOfHalf } from '../vector/half';
import { multiplyAdd, sumOfLanes } from '../vector/vector';

/**
 * C = X·Wᵀ for rows X (m × depth) f32 and lines W (n × depth), whose numbers are `T`: f32, u16 for f16, or
 * i16 for bf16. Distances between rows are in bytes.
 */
@inline function linesByRows<T>(
  m: i32, n: i32, depth: i32, x: usize, ldx: usize, w: usize, ldw: usize, c: usize, ldc: usize,
): void {
  for (let j = 0; j < n; j++) {
    const line = w + <usize>j * ldw;
    for (let i = 0; i < m; i++) {
      const row = x + <usize>i * ldx;
      let s0 = f32x4.splat(0);
      let s1 = f32x4.splat(0);
      let s2 = f32x4.splat(0);
      let s3 = f32x4.splat(0);
      let d = 0;
      if (isHalf<T>()) {
        // Weights are finite, and a line of finite numbers takes fewer steps per number. A line with others
        // starts again.
        let largest = i16x8.splat(0);
        for (; d + 16 <= depth; d += 16) {
          const from = row + (<usize>d << 2);
          const at = line + (<usize>d << 1);
          largest = i16x8.max_s(largest, v128.and(v128.load(at), i16x8.splat(0x7fff)));
          largest = i16x8.max_s(largest, v128.and(v128.load(at, 16), i16x8.splat(0x7fff)));
          s0 = multiplyAdd(s0, v128.load(from), finiteHalf(v128.load_ext<i16>(at)));
          s1 = multiplyAdd(s1, v128.load(from, 16), finiteHalf(v128.load_ext<i16>(at, 8)));
          s2 = multiplyAdd(s2, v128.load(from, 32), finiteHalf(v128.load_ext<i16>(at, 16)));
          s3 = multiplyAdd(s3, v128.load(from, 48), finiteHalf(v128.load_ext<i16>(at, 24)));
        }
        if (v128.any_true(i16x8.gt_s(largest, i16x8.splat(0x7bff)))) {
          s0 = s1 = s2 = s3 = f32x4.splat(0);
          d = 0;
        }
      }
      for (; d + 16 <= depth; d += 16) {
        const from = row + (<usize>d << 2);
        const at = line + <usize>d * sizeof<T>();
        s0 = multiplyAdd(s0, v128.load(from), four<T>(at));
        s1 = multiplyAdd(s1, v128.load(from, 16), four<T>(at + 4 * sizeof<T>()));
        s2 = multiplyAdd(s2, v128.load(from, 32), four<T>(at + 8 * sizeof<T>()));
        s3 = multiplyAdd(s3, v128.load(from, 48), four<T>(at + 12 * sizeof<T>()));
      }
      for (; d + 4 <= depth; d += 4) {
        s0 = multiplyAdd(s0, v128.load(row + (<usize>d << 2)), four<T>(line + <usize>d * sizeof<T>()));
      }
      const sum = sumOfLanes(f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3)));
      f32.store(c + <usize>i * ldc + (<usize>j << 2), <f32>(sum + rest<T>(row, line, d, depth)));
    }
  }
}

/** The products from element d on. */
function rest<T>(row: usize, line: usize, d: i32, depth: i32): f64 {
  let sum: f64 = 0;
  for (; d < depth; d++) {
    sum += <f64>f32.load(row + (<usize>d << 2)) * <f64>one<T>(line + <usize>d * sizeof<T>());
  }
  return sum;
}

/** C += X·W for rows X (m × depth) f32 and lines W (depth × n) of numbers `T`. */
@inline function addLinesByRows<T>(
  m: i32, n: i32, depth: i32, x: usize, ldx: usize, w: usize, ldw: usize, c: usize, ldc: usize,
): void {
  let d = 0;
  // With many rows, most reads are of the sums, so each sum is read once for four lines.
  for (; m > 2 && d + 4 <= depth; d += 4) {
    const line = w + <usize>d * ldw;
    for (let i = 0; i < m; i++) {
      const row = x + <usize>i * ldx + (<usize>d << 2);
      const to = c + <usize>i * ldc;
      const a0 = v128.load32_splat(row);
      const a1 = v128.load32_splat(row, 4);
      const a2 = v128.load32_splat(row, 8);
      const a3 = v128.load32_splat(row, 12);
      let j = 0;
      for (; j + 4 <= n; j += 4) {
        const at = line + <usize>j * sizeof<T>();
        let sum = v128.load(to + (<usize>j << 2));
        sum = multiplyAdd(sum, a0, four<T>(at));
        sum = multiplyAdd(sum, a1, four<T>(at + ldw));
        sum = multiplyAdd(sum, a2, four<T>(at + 2 * ldw));
        sum = multiplyAdd(sum, a3, four<T>(at + 3 * ldw));
        v128.store(to + (<usize>j << 2), sum);
      }
      for (; j < n; j++) {
        const at = line + <usize>j * sizeof<T>();
        const sum = f32.load(to + (<usize>j << 2)) +
          f32.load(row) * one<T>(at) + f32.load(row, 4) * one<T>(at + ldw) +
          f32.load(row, 8) * one<T>(at + 2 * ldw) + f32.load(row, 12) * one<T>(at + 3 * ldw);
        f32.store(to + (<usize>j << 2), sum);
      }
    }
  }
  for (; d < depth; d++) {
    const line = w + <usize>d * ldw;
    for (let i = 0; i < m; i++) {
      const row = x + <usize>i * ldx + (<usize>d << 2);
      const a = v128.load32_splat(row);
      const sums = c + <usize>i * ldc;
      let j = 0;
      for (; j + 8 <= n; j += 8) {
        const at = line + <usize>j * sizeof<T>();
        const to = sums + (<usize>j << 2);
        v128.store(to, multiplyAdd(v128.load(to), a, four<T>(at)));
        v128.store(to, multiplyAdd(v128.load(to, 16), a, four<T>(at + 4 * sizeof<T>())), 16);
      }
      for (; j < n; j++) {
        const to = sums + (<usize>j << 2);
        f32.store(to, f32.load(to) + f32.load(row) * one<T>(line + <usize>j * sizeof<T>()));
      }
    }
  }
}

/** Whether the numbers are f16. */
@inline function isHalf<T>(): bool {
  return sizeof<T>() == 2 && !isSigned<T>();
}

/** Four stored numbers as f32. */
@inline function four<T>(at: usize): v128 {
  if (sizeof<T>() == 4) return v128.load(at);
  if (!isHalf<T>()) return i32x4.shl(v128.load_ext<u16>(at), 16);
  const code = v128.load_ext<i16>(at);
  const special = i32x4.gt_s(v128.and(code, i32x4.splat(0x7fff)), i32x4.splat(0x7bff));
  return v128.or(finiteHalf(code), v128.and(special, i32x4.splat(0x7f800000)));
}

/**
 * Converts finite f16 codes with extended signs to f32: exponent and mantissa move up by 13 bits, and 2^112
 * corrects the bias, in subnormals too. Infinities and NaN become 65536 and more.
 */
@inline function finiteHalf(code: v128): v128 {
  const moved = v128.and(i32x4.shl(code, 13), i32x4.splat(<i32>0x8fffffff));
  return f32x4.mul(moved, f32x4.splat(5192296858534827628530496329220096.0));
}

/** One stored number as f32. */
function one<T>(at: usize): f32 {
  if (sizeof<T>() == 4) return f32.load(at);
  const code = i32x4.splat(<i32>load<u16>(at));
  return f32x4.extract_lane(isSigned<T>() ? i32x4.shl(code, 16) : floatOfHalf(code), 0);
}

/** `linesByRows` by the dtype code of W: 0 for f32, 1 for f16, 2 for bf16. */
export function multiplyLines(
  dtype: i32, m: i32, n: i32, depth: i32, x: usize, ldx: usize, w: usize, ldw: usize, c: usize, ldc: usize,
): void {
  if (dtype == 0) linesByRows<f32>(m, n, depth, x, ldx, w, ldw, c, ldc);
  else if (dtype == 1) linesByRows<u16>(m, n, depth, x, ldx, w, ldw, c, ldc);
  else linesByRows<i16>(m, n, depth, x, ldx, w, ldw, c, ldc);
}

/** `addLinesByRows` by the dtype code of W. */
export function addLineProducts(
  dtype: i32, m: i32, n: i32, depth: i32, x: usize, ldx: usize, w: usize, ldw: usize, c: usize, ldc: usize,
): void {
  if (dtype == 0) addLinesByRows<f32>(m, n, depth, x, ldx, w, ldw, c, ldc);
  else if (dtype == 1) addLinesByRows<u16>(m, n, depth, x, ldx, w, ldw, c, ldc);
  else addLinesByRows<i16>(m, n, depth, x, ldx, w, ldw, c, ldc);
}
