import type { BackwardProblem, OperandDesc } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { wholeUniforms } from '../../../codegen/shader-part.ts';
import type { TileConfig } from '../../config/kernel-config.ts';
import { writeOperand } from '../../layout/operand.ts';
import { queryRangePart } from '../../layout/sequence.ts';
import { tileSize } from '../../tiles/tile.ts';
import { type AccumulateGemm, storeRows } from '../../tiles/tile-backend.ts';
import { keyHeads, tileResult } from '../../tiles/tile-operands.ts';
import { gradientTile } from './gradient-tile.ts';

/** Which of the two gradients a kernel computes, and the layouts of its results. */
export interface KeyGradients {
  readonly dk?: OperandDesc;
  readonly dv?: OperandDesc;
}

/**
 * dK = dSᵀ · Q and dV = dropout(P)ᵀ · dO: a workgroup has one tile of keys of one key head and loops over the
 * query heads of its group and the query tiles that may see its keys. The sum over the group is computed
 * here, in a fixed order.
 *
 * One kernel can compute dK and dV together if they have the same heads. A kernel computes one of them if
 * only one is requested, or if both do not fit (bindings, registers). A tile in workgroup memory must be
 * square, because the rows of the result are keys; a subgroup tile must have stationary keys.
 */
export function dkdvKernel(problem: BackwardProblem, results: KeyGradients, config: TileConfig): KernelSpec {
  const { dk, dv } = results;
  const { tile } = config;
  const { backend } = tile;
  const { forward } = problem;
  const { B, Hk, Hv, Skv, Dqk, Dv } = forward;
  const { rows, cols, lanes } = tileSize(tile.grid);
  const tiles = Math.ceil(Skv / cols);
  const heads = dk ? Hk : Hv;
  const gradient = gradientTile(problem, config, { weight: dv !== undefined, ds: dk !== undefined, results });
  const { q, dO } = gradient.factors;
  const overQueries = { over: 'queries', nonFiniteGuard: gradient.nonFiniteGuard } as const;
  const sums: readonly AccumulateGemm[] = [
    ...(dv
      ? [{ into: 'dv', weight: (b: number) => gradient.vectors.of('weight', b), operand: dO, ...overQueries }]
      : []),
    ...(dk
      ? [{ into: 'dk', weight: (b: number) => gradient.vectors.of('ds', b), operand: q, ...overQueries }]
      : []),
  ];
  const body = `
  let tile = group % P.tiles;
  let head = (group / P.tiles) % P.heads;
  let seq = sequence_at(group / (P.tiles * P.heads));
  let j0 = tile * ${cols}u;
  ${backend.place}
  ${dk ? backend.accumulators('dk', Dqk) : ''}
  ${dv ? backend.accumulators('dv', Dv) : ''}

  let queries = query_range(seq, j0, j0 + ${cols}u);
  let heads_per_group = P.Hq / P.heads;
  for (var h = head * heads_per_group; h < (head + 1u) * heads_per_group; h++) {
  ${keyHeads}
  ${gradient.keep}
  ${backend.loop(
    `for (var i0 = queries.x / ${rows}u * ${rows}u; i0 < queries.y; i0 += ${rows}u) {
    ${gradient.skip}
    ${gradient.loadRowValues}
    ${gradient.compute(sums)}

    // ${[dv && 'dV += Pᵀ·dO', dk && 'dK += dSᵀ·Q'].filter(Boolean).join(', ')}
    ${backend.accumulate(gradient.products, sums)}
  }`,
    gradient.products,
    sums,
    gradient.visible,
  )}
  }
  ${dk ? storeRows(backend, 'dk', tileResult('dk', forward, dk), x => gradient.stored('dk', x)) : ''}
  ${dv ? storeRows(backend, 'dv', tileResult('dv', forward, dv), x => gradient.stored('dv', x)) : ''}
  ${gradient.finish}`;
  return kernelSpec({
    name: `attention ${Object.keys(results).join(' ')}`,
    groups: { batches: B, heads, tiles, each: 1, side: 'kv', rows: cols, reversed: false },
    workgroupSize: lanes,
    parts: [
      { uniforms: wholeUniforms({ tiles, heads }) },
      ...gradient.parts,
      queryRangePart,
      ...(dk ? [writeOperand('dk', dk, config)] : []),
      ...(dv ? [writeOperand('dv', dv, config)] : []),
    ],
    body,
    bindingBudget: config.bindingBudget,
  });
}
