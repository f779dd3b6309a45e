import { storageFormat } from '../../../codegen/formats/storage-format.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import { isCpu } from '../../../device/capabilities/broadcasting.ts';
import { matrixBlocks, type Side, sideBinding } from '../operands/matrix-blocks.ts';
import { inSmallSubgroups } from './small-subgroups.ts';
import { fewRows, type MatMulTile, type MatMulTileSelector } from './tile.ts';

/**
 * The largest number of rows of a tile: a lane has registers for their sums. A multiple of 4, because blocks
 * of A start at multiples of 4.
 */
const maxRows = 8;

/**
 * The largest number of rows of a product, the blocks of four columns of a workgroup, and the most lanes that
 * share the sum of a block. On a GPU, these lanes read whole cache lines of either layout of B, and tiles of
 * other forms would leave most cores idle. On a CPU, a workgroup has as many lanes as lavapipe has in a
 * vector of floats, and each lane computes whole sums: adding up the sums of several lanes would be most of
 * the kernel's text.
 */
const shapes = {
  gpu: { few: fewRows, columns: 8, slices: 32 },
  cpu: { few: 8, columns: 8, slices: 1 },
} as const;

/**
 * Tiles for products of few rows (GEMV), as in text generation. Other products use the tiles of `others`, or
 * those of the table in small subgroups.
 * @param others tiles for products of many rows and columns.
 */
export const gemvTiles =
  (others?: MatMulTileSelector): MatMulTileSelector =>
  (size, operands, capabilities, table) => {
    const { M, K } = size;
    const { few, columns, slices: most } = shapes[isCpu(capabilities) ? 'cpu' : 'gpu'];
    if (M > few)
      return others?.(size, operands, capabilities, table) ?? inSmallSubgroups(table, capabilities);
    // A lane has eight steps of a short sum, four at a time.
    const slices = 2 ** Math.floor(Math.log2(Math.min(Math.max(K / 8, 1), most)));
    return gemvTile({ rows: Math.min(M || 1, maxRows), columns, slices });
  };

/** A tile of a product of few rows. */
interface GemvShape {
  /** The rows of the tile. */
  readonly rows: number;
  /** The number of blocks of four columns. */
  readonly columns: number;
  /** The number of lanes that share the sum of a block, a power of two. */
  readonly slices: number;
}

/**
 * Each lane adds a part of the sum to accumulators of its own, four steps and four columns at a time, and a
 * tree adds the accumulators of the lanes of a block. The operands are read from storage without workgroup
 * memory, so that there is no barrier before the tree. Adjacent lanes read adjacent vectors of B.
 */
function gemvTile({ rows, columns, slices }: GemvShape): MatMulTile {
  const lanes = columns * slices;
  return {
    ...{ lanes, M: rows, N: 4 * columns, depth: 4 * slices },
    parts: slices > 1 ? [{ code: `var<workgroup> partials: array<vec4f, ${lanes}>;` }] : [],
    backend(a, b) {
      const { rowSteps, part } = stepsOf(a, rows);
      const block = `${b.matrix.name}_block`;
      const isAcross = b.vectors !== 'sum';
      const [column, slice] = isAcross
        ? [`lane % ${columns}u`, `lane / ${columns}u`]
        : [`lane / ${slices}u`, `lane % ${slices}u`];
      return {
        parts: [part, matrixBlocks(b)],
        lane: `let x = n0 + 4u * (${column});
  let slice = ${slice};`,
        accumulators: repeat(rows, r => `var c${r} = vec4f();`),
        sum: `for (var k = k_begin + 4u * slice; k < k_end; k += ${4 * slices}u) {
    var block = mat4x4f();
    if (x + 4u <= P.N && k + 4u <= P.${b.matrix.name}_K) {
      block = ${block}(b_at, x, k);
    } else {
      block = ${block}_at_edge(b_at, x, k);
    }
    ${rowSteps}
    ${repeat(rows, r => `c${r} += block * a${r};`)}
  }`,
        results: store =>
          repeat(rows, r => {
            const sumOfLanes = `partials[lane] = c${r};
  workgroupBarrier();
  for (var half = ${slices >> 1}u; half > 0u; half /= 2u) {
    if (slice < half) {
      partials[lane] += partials[lane + half${isAcross ? ` * ${columns}u` : ''}];
    }
    workgroupBarrier();
  }
  c${r} = partials[lane];`;
            return `${slices > 1 ? sumOfLanes : ''}
  if (slice == 0u && m0 + ${r}u < P.M) {
    ${store(`m0 + ${r}u`, 'x', `c${r}`)}
  }`;
          }),
      };
    },
  };
}

/**
 * Statements that declare `a0`, `a1`…: the elements of A at steps k…k+3 of each row, 0 beyond the last step.
 * Rows whose elements are vectors are read one by one, others in blocks of four.
 */
function stepsOf(a: Side, rows: number): { readonly rowSteps: string; readonly part: ShaderPart } {
  const { name, dtype } = a.matrix;
  if (a.vectors === 'sum') {
    const first = (r: number): string => `a_at + min(m0 + ${r}u, P.M - 1u) * P.${name}_side + k`;
    return {
      rowSteps: repeat(rows, r => `let a${r} = ${storageFormat(dtype).load4(name, `(${first(r)}) >> 2u`)};`),
      part: sideBinding(a),
    };
  }
  const blocks = repeat(Math.ceil(rows / 4), n => {
    const block = `(a_at, m0 + ${4 * n}u, k)`;
    const rowOf = (r: number): string => `let a${r} = four${n}[${r % 4}];`;
    return `var four${n} = mat4x4f();
    if (m0 + ${4 * n + 4}u <= P.M && k + 4u <= P.${name}_K) {
      four${n} = transpose(${name}_block${block});
    } else {
      four${n} = transpose(${name}_block_at_edge${block});
    }
    ${repeat(Math.min(4, rows - 4 * n), r => rowOf(4 * n + r))}`;
  });
  return { rowSteps: blocks, part: matrixBlocks(a) };
}
