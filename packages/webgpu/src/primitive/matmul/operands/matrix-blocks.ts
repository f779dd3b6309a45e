import { arrayElement, storageFormat } from '../../../codegen/formats/storage-format.ts';
import { readBinding } from '../../../codegen/formats/tensor-binding.ts';
import { type ShaderPart, u32Uniforms } from '../../../codegen/shader-part.ts';
import type { Matrix } from './matrix.ts';

/** An operand as the kernel reads it: along the sum, and along its side of C (rows of A, columns of B). */
export interface Side {
  readonly matrix: Matrix;
  readonly sideStride: number;
  readonly sumStride: number;
  /** The uniform with the length of the side. */
  readonly extent: 'M' | 'N';
  /** The length of the sum. */
  readonly K: number;
  /** The direction in which four adjacent elements can be loaded as one vector; null if there is none. */
  readonly vectors: 'side' | 'sum' | null;
}

/** @param unaligned tensors that may start at any element. */
export function sideOf(
  matrix: Matrix,
  extent: 'M' | 'N',
  extents: Readonly<Record<'M' | 'N' | 'K', number>>,
  unaligned: ReadonlySet<string>,
): Side {
  const { rowStride, columnStride, batchStrides, name } = matrix;
  const [sideStride, sumStride] = extent === 'M' ? [rowStride, columnStride] : [columnStride, rowStride];
  const inFours = (...numbers: readonly number[]): boolean => numbers.every(n => n % 4 === 0);
  const even = !unaligned.has(name) && inFours(...batchStrides);
  const vectors =
    even && sumStride === 1 && inFours(extents.K, sideStride)
      ? 'sum'
      : even && sideStride === 1 && inFours(extents[extent], sumStride)
        ? 'side'
        : null;
  return { matrix, sideStride, sumStride, extent, K: extents.K, vectors };
}

const four = [0, 1, 2, 3] as const;

/** The binding for reading an operand, and the uniforms with its two strides and the length of the sum. */
export function sideBinding({ matrix, sideStride, sumStride, K, vectors }: Side): ShaderPart {
  const { name, dtype } = matrix;
  const format = storageFormat(dtype);
  return {
    bindings: [readBinding(name, format, vectors !== null)],
    uniforms: u32Uniforms({ side: sideStride, sum: sumStride, K }, `${name}_`),
    requires: format.requires,
  };
}

const steps = (n: number, stride: string): string =>
  n === 0 ? '' : ` + ${n === 1 ? '' : `${n}u * `}${stride}`;

/**
 * `NAME_block(start, x, k)`: the 4 × 4 elements at x…x+3 along the side and k…k+3 along the sum; column n of
 * the result is the vector at k + n. `NAME_block_at_edge` returns 0 for elements beyond the matrix, and does
 * not read them. x and k are multiples of 4; `start` is the index at which the matrix starts.
 */
export function matrixBlocks(of: Side): ShaderPart {
  const { matrix, extent, vectors } = of;
  const { name, dtype } = matrix;
  const format = storageFormat(dtype);
  const [side, sum] = [`P.${name}_side`, `P.${name}_sum`];
  const at = (x: number, k: number): string => `first${steps(x, side)}${steps(k, sum)}`;
  const load4 = (index: string): string => format.load4(name, `(${index}) >> 2u`);
  const load = (index: string): string => format.load(arrayElement(name), index);
  const vector = (n: number): string => {
    if (vectors === 'sum') return load4(at(n, 0));
    if (vectors === 'side') return load4(at(0, n));
    return `vec4f(${four.map(x => load(at(x, n))).join(', ')})`;
  };
  const turn = vectors === 'sum' ? 'transpose' : '';
  // Uses loops, because this code is for the rare tiles at an edge, and unrolled it would be most of the
  // kernel.
  const atEdge = {
    sum: `if (x + n < P.${extent}) {
      block[n] = ${load4(`first + n * ${side}`)};
    }`,
    side: `if (k + n < P.${name}_K) {
      block[n] = ${load4(`first + n * ${sum}`)};
    }`,
    none: `for (var e = 0u; e < 4u; e++) {
      if (k + n < P.${name}_K && x + e < P.${extent}) {
        block[n][e] = ${load(`first + e * ${side} + n * ${sum}`)};
      }
    }`,
  };
  return {
    ...sideBinding(of),
    code: `fn ${name}_block(start: u32, x: u32, k: u32) -> mat4x4f {
  let first = start + x * ${side} + k * ${sum};
  return ${turn}(mat4x4f(${four.map(vector).join(', ')}));
}

fn ${name}_block_at_edge(start: u32, x: u32, k: u32) -> mat4x4f {
  var block = mat4x4f();
  if (x >= P.${extent} || k >= P.${name}_K) {
    return block;
  }
  let first = start + x * ${side} + k * ${sum};
  for (var n = 0u; n < 4u; n++) {
    ${atEdge[vectors ?? 'none']}
  }
  return ${turn}(block);
}`,
  };
}
