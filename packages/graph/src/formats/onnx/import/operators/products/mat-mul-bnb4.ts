import type { OnnxOperator } from '../../node-call.ts';
import { nibble, productBy } from './packed-matrix.ts';

/** The numbers of FP4's first eight codes in bitsandbytes; the others are their negatives. */
const fp4 = [0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4];

/** The numbers of NF4's codes (QLoRA, Dettmers et al. 2023, appendix E). */
const nf4 = [
  ...[-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635],
  ...[-0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725],
  ...[0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941],
  ...[0.7229568362236023, 1],
];

const codebooks: readonly (readonly number[])[] = [[...fp4, ...fp4.map(x => -x)], nf4];

/**
 * com.microsoft's product of x and a matrix (N, K) of 4-bit codes, as bitsandbytes stores it: row-major, in
 * blocks that each have a largest magnitude, with the first code of a byte in its upper half.
 */
export const matMulBnb4: OnnxOperator = call => {
  const [K, N, block] = [call.int('K', 0), call.int('N', 0), call.int('block_size', 0)];
  const codebook = codebooks[call.int('quant_type', 1)] ?? call.fail("has an unknown 'quant_type'");
  if (!call.flag('transB', true)) call.refuse("has the attribute 'transB' = 0, which is not supported");
  return productBy(call, call.input(2).type, { K, N, block }, () => {
    const [bytes, factors] = [call.elements(1), call.elements(2)];
    if (bytes.length !== Math.ceil((N * K) / 2) || factors.length !== Math.ceil((N * K) / block))
      call.fail(`has codes or magnitudes that do not fit ${N} × ${K} in groups of ${block}`);
    const values = new Float32Array(N * K);
    for (let n = 0; n < values.length; n++)
      values[n] = codebook[nibble(bytes, n ^ 1)] * factors[Math.floor(n / block)];
    return values;
  });
};
