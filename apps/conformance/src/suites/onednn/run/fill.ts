import { elementCount, Tensor, type TensorDesc } from '@tilewise/core';
import type { LogicalTensor } from '@tilewise/graph';
import type { Role } from './roles.ts';

/** Park and Miller's generator, as in benchdnn (minstd_rand). */
export class MinStd {
  #state: number;

  constructor(seed: number) {
    this.#state = seed % 2147483647 || 1;
    for (let n = 0; n < 3; n++) this.next();
  }

  /** In [1, 2³¹ − 2]. */
  next(): number {
    // The remainder modulo 2³¹ − 1 of a product below 2⁵³: 2³¹ ≡ 1, so the product's two parts are added.
    const product = this.#state * 48271;
    const high = Math.floor(product / 2147483648);
    const sum = product - high * 2147483648 + high;
    this.#state = sum >= 2147483647 ? sum - 2147483647 : sum;
    return this.#state;
  }

  /** An integer in [low, high]. */
  integer(low: number, high: number): number {
    return low + (this.next() % (high - low + 1));
  }

  /** In [0, 1). */
  unit(): number {
    return this.next() / 2147483647;
  }
}

/** The largest magnitudes of the integers that fill the operands of a product, by dtype. */
const ranges: Readonly<
  Record<string, readonly [src: readonly [number, number], weights: readonly [number, number]]>
> = {
  f32: [
    [-64, 64],
    [-128, 128],
  ],
  bf16: [
    [-4, 4],
    [-2, 2],
  ],
  f16: [
    [-4, 4],
    [-2, 2],
  ],
  i8: [
    [-4, 4],
    [-4, 4],
  ],
  u8: [
    [-4, 4],
    [-4, 4],
  ],
  i4: [
    [-2, 2],
    [-2, 2],
  ],
  u4: [
    [0, 4],
    [0, 4],
  ],
  f8e4m3: [
    [-4, 4],
    [-2, 2],
  ],
  f8e5m2: [
    [-4, 4],
    [-2, 2],
  ],
};

const significandBits: Readonly<Record<string, number>> = { f32: 24, f16: 11, bf16: 8 };

/**
 * The numbers of an input: small integers for products, so that sums are exact; powers of two for scales; for
 * a mask, a causal one whose last row sees nothing.
 * @param depth the number of terms in a sum of the role's MatMul, or of factors in a product of its
 * ReduceProd.
 */
export function fill(t: LogicalTensor, desc: TensorDesc, role: Role, depth: number): Tensor {
  const random = new MinStd(1000 * (t.id % 1000003) + 7);
  const { dtype, shape, strides } = desc;
  const values = numbersOf(t, shape, role, depth, random);
  return Tensor.from(values, shape, { dtype, strides });
}

function numbersOf(
  t: LogicalTensor,
  shape: readonly number[],
  role: Role,
  depth: number,
  random: MinStd,
): Float64Array {
  const values = new Float64Array(elementCount(shape));
  const each = (make: (n: number) => number): Float64Array => {
    for (let n = 0; n < values.length; n++) values[n] = make(n);
    return values;
  };
  const one = <A>(list: readonly A[]): A => list[random.integer(0, list.length - 1)];
  switch (role.kind) {
    case 'matmul': {
      const [src, weights] = ranges[t.dtype] ?? ranges.f32;
      const [low, high] = role.operand === 'src' ? src : weights;
      const exact = 2 ** (significandBits[role.matmul.outputs[0].dtype] ?? 24);
      const density = Math.min(1, exact / (src[1] * weights[1]) / depth);
      const isThin = role.operand === 'src' && density < 1;
      const stored = (x: number): number => x / role.scale + role.zero;
      return each(n =>
        stored(
          n > 0 && isThin && random.unit() > density
            ? 0
            : n === 0
              ? Math.max(random.integer(low, high), 1)
              : random.integer(low, high),
        ),
      );
    }
    case 'multiplier':
      return elementCount(shape) === 1
        ? each(() => one([0.25, 0.5, 1]))
        : each(() => random.integer(-16, 16) / 2);
    case 'divisor':
      return elementCount(shape) === 1 ? values.fill(one([2, 4, 8])) : each(() => one([2, 4, 8]));
    case 'factor': {
      // Signs reveal a factor that is omitted or used twice in half of the products that contain it. Four
      // factors of each product are not 1, so that magnitudes are tested, too; the product's exponent then
      // stays far inside the range of f16, and the product is exact in any order and dtype.
      const few = 4 / depth;
      return each(() => one([1, -1]) * (random.unit() < few ? one([0.5, 2]) : 1));
    }
    case 'causal-mask':
      return causalMask(values, shape, role.hidesLastRow);
    case 'condition':
      return values.fill(role.value);
    case 'fill':
      return values.fill(-Infinity);
    case 'seed':
      return Float64Array.of(123456, 0);
    case 'offset':
      return Float64Array.of(1, 0);
    case 'probability':
      return values.fill(0.5);
    case 'scales':
      return each(() => one([0.25, 0.5, 1]));
    case 'zero-points':
      return each(() => random.integer(t.dtype.startsWith('u') ? 0 : -2, 2));
    case 'operand':
      return each(() => random.integer(-8, 8) || 1);
    default:
      return each(() => random.integer(-16, 16) / 2);
  }
}

function causalMask(values: Float64Array, shape: readonly number[], hidesLastRow: boolean): Float64Array {
  const [rows = 1, columns = 1] = shape.slice(-2);
  if (rows <= 1) return values;
  return values.map((_, n) => {
    const j = n % columns;
    const i = Math.floor(n / columns) % rows;
    return j > i || (hidesLastRow && i === rows - 1) ? -Infinity : 0;
  });
}
