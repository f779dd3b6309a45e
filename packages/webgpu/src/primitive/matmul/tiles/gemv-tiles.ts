import { arrayElement, storageFormat } from '../../../codegen/formats/storage-format.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import { isCpu } from '../../../device/capabilities/broadcasting.ts';
import { matrixBlocks, type Side, sideBinding } from '../operands/matrix-blocks.ts';
import type { MatMulTile, MatMulTileSelector } from './tile.ts';

/** The largest number of rows for which the time of a product is that of reading B once. */
const maxRows = 8;

/** Products with at most this many rows or columns have flat tiles, not those of matrices. */
const flatRows = 16;

/**
 * The blocks of four columns of a workgroup, and the most lanes that share the sum of a block. On a GPU,
 * these lanes read whole cache lines of either layout of B. On a CPU, a workgroup has as many lanes as
 * lavapipe has in a vector of floats.
 */
const shapes = {
  gpu: { columns: 8, strands: 32 },
  cpu: { columns: 2, strands: 4 },
} as const;

/**
 * Tiles for products of few rows (GEMV), as in text generation.
 * @param others tiles for other products.
 */
export const gemvTiles =
  (others?: MatMulTileSelector): MatMulTileSelector =>
  (size, operands, capabilities) => {
    const { M, N, K } = size;
    if (M > maxRows) return (M > flatRows && N > flatRows && others?.(size, operands, capabilities)) || null;
    const { columns, strands: most } = shapes[isCpu(capabilities) ? 'cpu' : 'gpu'];
    // A lane has eight steps of a short sum, four at a time.
    const strands = 2 ** Math.floor(Math.log2(Math.min(Math.max(K / 8, 1), most)));
    return gemvTile({ rows: Math.max(M, 1), columns, strands });
  };

/** A tile of a product of few rows. */
interface GemvShape {
  /** The rows of the tile. */
  readonly rows: number;
  /** The number of blocks of four columns. */
  readonly columns: number;
  /** The number of lanes that share the sum of a block, a power of two. */
  readonly strands: number;
}

/**
 * Each lane adds a part of the sum to accumulators of its own, four steps and four columns at a time, and a
 * tree adds the accumulators of the lanes of a block. The operands are read from storage without workgroup
 * memory, so that there is no barrier before the tree. Adjacent lanes read adjacent vectors of B.
 */
function gemvTile({ rows, columns, strands }: GemvShape): MatMulTile {
  const lanes = columns * strands;
  return {
    ...{ lanes, M: rows, N: 4 * columns, depth: 4 * strands },
    parts: [{ code: `var<workgroup> strands: array<vec4f, ${lanes}>;` }],
    backend(a, b) {
      const [a4, block] = [`${a.matrix.name}_steps`, `${b.matrix.name}_block`];
      const isAcross = b.vectors !== 'sum';
      const [column, strand] = isAcross
        ? [`lane % ${columns}u`, `lane / ${columns}u`]
        : [`lane / ${strands}u`, `lane % ${strands}u`];
      return {
        parts: [steps(a), matrixBlocks(b)],
        place: `let x = n0 + 4u * (${column});
  let strand = ${strand};`,
        accumulators: repeat(rows, r => `var c${r} = vec4f();`),
        sum: `for (var k = k_begin + 4u * strand; k < k_end; k += ${4 * strands}u) {
    var block = mat4x4f();
    if (x + 4u <= P.N && k + 4u <= P.${b.matrix.name}_K) {
      block = ${block}(b_at, x, k);
    } else {
      block = ${block}_at_edge(b_at, x, k);
    }
    ${repeat(rows, r => `c${r} += block * ${a4}(a_at, min(m0 + ${r}u, P.M - 1u), k);`)}
  }`,
        results: store =>
          repeat(
            rows,
            r => `strands[lane] = c${r};
  workgroupBarrier();
  for (var half = ${strands >> 1}u; half > 0u; half /= 2u) {
    if (strand < half) {
      strands[lane] += strands[lane + half${isAcross ? ` * ${columns}u` : ''}];
    }
    workgroupBarrier();
  }
  if (strand == 0u && m0 + ${r}u < P.M) {
    ${store(`m0 + ${r}u`, 'x', 'strands[lane]')}
  }`,
          ),
      };
    },
  };
}

/** `NAME_steps(start, row, k)`: the elements k…k+3 of a row of A; 0 beyond the last. */
function steps(a: Side): ShaderPart {
  const { name, dtype } = a.matrix;
  const format = storageFormat(dtype);
  const vectors = a.vectors === 'sum' ? 'sum' : null;
  const read = vectors
    ? `return ${format.load4(name, 'first >> 2u')};`
    : `var x = vec4f();
  for (var e = 0u; e < 4u && k + e < P.${name}_K; e++) {
    x[e] = ${format.load(arrayElement(name), `first + e * P.${name}_sum`)};
  }
  return x;`;
  return {
    ...sideBinding({ ...a, vectors }),
    code: `fn ${name}_steps(start: u32, row: u32, k: u32) -> vec4f {
  let first = start + row * P.${name}_side + k * P.${name}_sum;
  ${read}
}`,
  };
}
