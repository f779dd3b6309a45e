import { subgroupLane } from '../../../codegen/subgroups.ts';
import { repeat } from '../../../codegen/text.ts';
import { isCount, type TileKind } from '../../../codegen/tile-kind.ts';
import { matrixBlocks, type Side } from '../operands/matrix-blocks.ts';
import { matrixVectors } from '../operands/matrix-vectors.ts';
import { declareInside, laneBlocks } from './lane-blocks.ts';
import type { MatMulBackend, MatMulTile } from './tile.ts';

/**
 * A tile whose lanes are stacked vertically; each lane has a block of 4 × 4 in all of the `columns` block
 * columns. A lane reads its own rows of A. Of B, it reads one in `group` of the vectors in four steps of the
 * sum, and broadcasts them to the other lanes of its group. Uses neither workgroup memory nor barriers.
 * Subgroups may have any size of at least `group` lanes.
 */
export interface SubgroupMatMulShape {
  readonly kind: 'subgroup';
  readonly lanes: number;
  /** The number of block columns; a multiple of group / 4. */
  readonly columns: number;
  readonly group: 4 | 8;
}

/** Tiles whose lanes broadcast vectors of B to each other. */
export const subgroupMatMulKind: TileKind<SubgroupMatMulShape, MatMulTile> = {
  name: 'subgroup',
  fields: ['kind', 'lanes', 'columns', 'group'],
  brokenRule: ({ lanes, columns, group }) =>
    isCount(lanes / group) && isCount((4 * columns) / group)
      ? null
      : `must have multiples of ${group} lanes and of ${group / 4} columns`,
  describe: ({ lanes, columns, group }) => `subgroup, ${lanes} lanes, ${columns} columns, group ${group}`,
  tile: shape => ({
    ...{ ...tileSize(shape), lanes: shape.lanes, depth: 4, parts: [subgroupLane] },
    backend: (a, b) => subgroupBackend(shape, a, b),
  }),
};

const tileSize = ({ lanes, columns }: Pick<SubgroupMatMulShape, 'lanes' | 'columns'>) => ({
  M: 4 * lanes,
  N: 4 * columns,
});

/**
 * A subgroup takes four steps of the sum at a time. In these steps, the columns of a tile have as many
 * vectors along the sum as across it, so in either case each lane reads the same number of them for its
 * group; vectors along the sum are transposed where they are used.
 */
function subgroupBackend({ lanes, columns, group }: SubgroupMatMulShape, a: Side, b: Side): MatMulBackend {
  const vectors = 4 * columns;
  const reads = vectors / group;
  const isAlongSum = b.vectors === 'sum';
  const vectorPosition = isAlongSum
    ? (v: string): string => `n0 + ${v}, k`
    : (v: string): string => `n0 + 4u * (${v} % ${columns}u), k + ${v} / ${columns}u`;
  const read = (
    edge: '' | '_at_edge',
  ): string => `block = ${a.matrix.name}_block${edge}(a_at, m0 + 4u * lane, k);
      ${repeat(reads, n => `read${n} = ${b.matrix.name}_vector${edge}(b_at, ${vectorPosition(`(${n * group}u + mine)`)});`)}`;
  const vectorAcross = isAlongSum
    ? (e: number, c: number): string =>
        `vec4f(${[0, 1, 2, 3].map(x => `across${4 * c + x}[${e}]`).join(', ')})`
    : (e: number, c: number): string => `across${e * columns + c}`;
  return {
    parts: [matrixBlocks(a), matrixVectors(b)],
    lane: `let mine = subgroup_lane & ${group - 1}u;
  ${declareInside(tileSize({ lanes, columns }))}`,
    ...laneBlocks({ rows: 1, columns, row: () => 'lane', column: c => `${c}u` }),
    sum: `for (var k = k_begin; k < k_end; k += 4u) {
    var block = mat4x4f();
    ${repeat(reads, n => `var read${n} = vec4f();`)}
    if (inside && k + 4u <= P.${a.matrix.name}_K) {
      ${read('')}
    } else {
      ${read('_at_edge')}
    }
    ${repeat(vectors, v => `let across${v} = subgroupBroadcast(read${Math.floor(v / group)}, ${v % group}u);`)}
    ${repeat(4, e => repeat(columns, c => `let b${e}_${c} = ${vectorAcross(e, c)};`))}
    ${repeat(4, e => repeat(4, r => repeat(columns, c => `c${r}_${c} += block[${e}][${r}] * b${e}_${c};`)))}
  }`,
  };
}
