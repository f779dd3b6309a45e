import type { BackwardProblem, OperandDesc } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../../codegen/shader-part.ts';
import type { TileConfig } from '../../config/kernel-config.ts';
import { writeOperand } from '../../layout/operand.ts';
import { queryRangePart } from '../../layout/sequence.ts';
import { storeRows } from '../../tiles/interface/tile-results.ts';
import { tileSize } from '../../tiles/tile.ts';
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
  const { B, Hk, Hv, Skv } = forward;
  const { cols, lanes } = tileSize(tile.grid);
  const tiles = Math.ceil(Skv / cols);
  const heads = dk ? Hk : Hv;
  const gradient = gradientTile(problem, config, { weight: dv !== undefined, ds: dk !== undefined, results });
  const { q, dO } = gradient.factors;
  const sums = (
    [
      ['dv', 'weight', dO],
      ['dk', 'ds', q],
    ] as const
  ).flatMap(([into, weight, operand]) => {
    const desc = results[into];
    return desc
      ? {
          ...{ into, operand, over: 'queries' as const, nonFiniteGuard: gradient.nonFiniteGuard },
          weight: (b: number) => gradient.vectors.of(weight, b),
          ...{ desc, result: tileResult(into, forward, desc) },
        }
      : [];
  });
  const body = `
  let tile = group % P.tiles;
  let head = (group / P.tiles) % P.heads;
  let seq = sequence_at(group / (P.tiles * P.heads));
  let j0 = tile * ${cols}u;
  ${backend.lane}
  ${sums.map(({ into, operand }) => backend.accumulators(into, operand.D)).join('\n')}

  let queries = query_range(seq, j0, j0 + ${cols}u);
  let heads_per_group = P.Hq / P.heads;
  for (var h = head * heads_per_group; h < (head + 1u) * heads_per_group; h++) {
  ${keyHeads}
  ${gradient.loadStationary}
  ${gradient.loop('i0', 'queries', sums, { before: gradient.loadRowValues })}
  }
  ${sums.map(({ into, result }) => storeRows(backend, into, result, x => gradient.stored(into, x))).join('\n')}
  ${gradient.finish}`;
  return kernelSpec({
    name: `attention ${Object.keys(results).join(' ')}`,
    groups: { batches: B, heads, tiles, side: 'kv', rows: cols },
    workgroupSize: lanes,
    parts: [
      { uniforms: u32Uniforms({ tiles, heads }) },
      ...gradient.parts,
      queryRangePart,
      // Plans list dk before dv.
      ...sums.map(({ into, desc }) => writeOperand(into, desc, config)).reverse(),
    ],
    body,
    bindingBudget: config.bindingBudget,
  });
}
