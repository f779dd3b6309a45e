import type { BackwardProblem, OperandDesc } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../../codegen/shader-part.ts';
import type { TileConfig } from '../../config/kernel-config.ts';
import { writeOperand } from '../../layout/operand.ts';
import type { AccumulateGemm } from '../../tiles/interface/tile-gemms.ts';
import { storeRows } from '../../tiles/interface/tile-results.ts';
import { tileSize } from '../../tiles/tile.ts';
import { keyHeads, tileResult } from '../../tiles/tile-operands.ts';
import { gradientTile } from './gradient-tile.ts';

/** dQ = dS · K: a workgroup has one tile of queries and loops over the key tiles that they may see. */
export function dqKernel(problem: BackwardProblem, dq: OperandDesc, config: TileConfig): KernelSpec {
  const { tile } = config;
  const { backend } = tile;
  const { forward } = problem;
  const { B, Hq, Sq, Dqk } = forward;
  const result = tileResult('dq', forward, dq);
  const { rows, lanes } = tileSize(tile.grid);
  const tiles = Math.ceil(Sq / rows);
  const gradient = gradientTile(problem, config, { weight: false, ds: true, results: { dq } });
  const sum: AccumulateGemm = {
    ...{ into: 'acc', operand: gradient.factors.k, over: 'keys', nonFiniteGuard: gradient.nonFiniteGuard },
    weight: b => gradient.vectors.of('ds', b),
  };
  const body = `
  let tile = P.tiles - 1u - group % P.tiles;
  let h = (group / P.tiles) % P.Hq;
  ${keyHeads}
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let i0 = tile * ${rows}u;
  ${backend.lane}
  ${backend.accumulators('acc', Dqk)}
  ${gradient.loadRowValues}
  ${gradient.loadStationary}

  let keys = key_range(seq, i0, i0 + ${rows}u);
  ${gradient.loop('j0', 'keys', [sum])}
  ${storeRows(backend, 'acc', result, x => gradient.stored('dq', x))}
  ${gradient.finish}`;
  return kernelSpec({
    name: 'attention dq',
    groups: { batches: B, heads: Hq, tiles, side: 'q', rows, reversed: true },
    workgroupSize: lanes,
    parts: [{ uniforms: u32Uniforms({ tiles }) }, ...gradient.parts, writeOperand('dq', dq, config)],
    body,
    bindingBudget: config.bindingBudget,
  });
}
