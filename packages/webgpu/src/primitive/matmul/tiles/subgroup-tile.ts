import { subgroupLane } from '../../../codegen/subgroup-lane.ts';
import { matrixBlocks, type Side } from '../operands/matrix-blocks.ts';
import { matrixVectors } from '../operands/matrix-vectors.ts';
import type { SubgroupTile } from './tile.ts';
import { each, type TileWork } from './tile-work.ts';

/**
 * A subgroup takes four steps of the sum at a time. In them the columns of a tile have as many vectors along the sum as across them, so
 * that either way each lane reads the same number of them for its neighbours; those along the sum become vectors across where they are met.
 */
export function subgroupWork({ columns, group }: SubgroupTile, a: Side, b: Side): TileWork {
  const vectors = 4 * columns;
  const reads = vectors / group;
  const isAlongSum = b.vectors === 'sum';
  const vectorPlace = isAlongSum
    ? (v: string): string => `n0 + ${v}, k`
    : (v: string): string => `n0 + 4u * (${v} % ${columns}u), k + ${v} / ${columns}u`;
  const read = (
    edge: '' | '_at_edge',
  ): string => `block = ${a.matrix.name}_block${edge}(a_at, m0 + 4u * lane, k);
      ${each(reads, n => `read${n} = ${b.matrix.name}_vector${edge}(b_at, ${vectorPlace(`(${n * group}u + mine)`)});`)}`;
  const vectorAcross = isAlongSum
    ? (e: number, c: number): string => `vec4f(${[0, 1, 2, 3].map(x => `met${4 * c + x}[${e}]`).join(', ')})`
    : (e: number, c: number): string => `met${e * columns + c}`;
  return {
    parts: [subgroupLane, matrixBlocks(a), matrixVectors(b)],
    place: `let mine = subgroup_lane & ${group - 1}u;`,
    ...{ rows: 1, columns, row: () => 'lane', column: c => `${c}u` },
    sum: `for (var k = k_begin; k < k_end; k += 4u) {
    var block = mat4x4f();
    ${each(reads, n => `var read${n} = vec4f();`)}
    if (inside && k + 4u <= P.K) {
      ${read('')}
    } else {
      ${read('_at_edge')}
    }
    ${each(vectors, v => `let met${v} = subgroupBroadcast(read${Math.floor(v / group)}, ${v % group}u);`)}
    ${each(4, e => each(columns, c => `let b${e}_${c} = ${vectorAcross(e, c)};`))}
    ${each(4, e => each(4, r => each(columns, c => `c${r}_${c} += block[${e}][${r}] * b${e}_${c};`)))}
  }`,
  };
}
