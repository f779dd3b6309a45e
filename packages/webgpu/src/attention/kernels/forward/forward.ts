import type { AttentionProblem } from '@tilewise/core';
import { lowest } from '../../../codegen/formats/float-bits.ts';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { repeat } from '../../../codegen/text.ts';
import { forwardAmaxes, fp8Kernel } from '../../config/fp8-steps.ts';
import type { KernelConfig } from '../../config/kernel-config.ts';
import { readOperands } from '../../layout/operand.ts';
import { rowAddressing } from '../../layout/row-results.ts';
import { sequencePart } from '../../layout/sequence.ts';
import { scorePart } from '../../score/score.ts';
import type { AccumulateGemm } from '../../tiles/interface/tile-gemms.ts';
import { tileSize } from '../../tiles/tile.ts';
import { headGroups, tileOperands } from '../../tiles/tile-operands.ts';
import { workgroupReads } from '../workgroup-reads.ts';
import type { ForwardShape } from './forward-shape.ts';
import { onlineSoftmax, onlineSoftmaxPart } from './online-softmax.ts';
import { queryRows } from './query-rows.ts';
import { wholeResult } from './whole-result.ts';

/**
 * Flash attention forward (Dao 2023, algorithm 1 with the loop order of FlashAttention-2): a workgroup has
 * one tile of queries and loops over the key tiles that they may see, with a running row maximum m, sum l and
 * unnormalised output.
 *
 *     m' = max(m, rowmax(S))              P  = e^(S − m')
 *     l' = e^(m − m')·l + rowsum(P)       O' = e^(m − m')·O + dropout(P)·V
 *
 * At the end, o = O / l and lse = m + ln l. With more than one part, a workgroup loops only over its part of
 * these key tiles, and stores m, l and O in the workspace to be merged. In FP8, this kernel computes only m
 * and l of the rows; see `fp8OutputKernel`.
 */
export function forwardKernel(
  problem: AttentionProblem,
  shape: ForwardShape,
  config: KernelConfig,
): KernelSpec {
  const { tile, parts } = shape;
  const { grid, backend, operandType } = tile;
  const { scoreVectors: vectors } = backend;
  const { cols, lanes } = tileSize(grid);
  const split = parts > 1 ? config.tools.splitKv : null;
  const reads = workgroupReads(split !== null);
  const rows = queryRows(problem, shape, reads);
  const score = scorePart(problem, {
    tile: shape.heads === 1 ? tile : null,
    ...{ slope: 'none', markRows: backend.markRows },
    mods: config.tools.mods,
  });
  const hasValues = problem.fp8?.kind !== 'scaled';
  const dropout = hasValues && problem.dropout ? config.tools.dropout : null;
  // Lazy rescaling would change the outputs max and sumExp.
  const lazy = problem.outputs.max || problem.outputs.sumExp ? null : backend.lazyRescaling;
  const fp8 = fp8Kernel(
    config.tools.fp8?.arithmetic,
    problem,
    hasValues ? ['weight', 'o'] : ['product'],
    hasValues ? forwardAmaxes(problem) : [],
  );
  const finish = split
    ? split.finish(problem, tile, parts, rows.declareRow('r'))
    : wholeResult(problem, tile, rows, config, fp8);

  const operands = { q: problem.q, k: problem.k, ...(hasValues && { v: problem.v }) };
  const { q, k, v } = tileOperands(problem);
  const products = [{ into: 's', a: rows.operand(q), b: k }] as const;
  const values: AccumulateGemm = {
    into: 'acc',
    operand: v,
    over: 'keys',
    weight: b => fp8.apply('weight', dropout ? vectors.of('weight', b) : `p${b}`),
    nonFiniteGuard: score.masks ? 'true' : '!full_tile',
    rescale: r => `rescale${r}`,
    lazy,
  };
  const [summed, sums] = hasValues ? [[v], [values]] : [[], []];

  const keyTile = (isFull: string): string => `
    ${reads.skip(score.isVisibleTile)}
    // S = Q·Kᵀ
    let full_tile = ${isFull};
    ${backend.scores(products, sums, score.isVisibleTile)}

    let j = j0 + tx * ${4 * grid.cols}u;
    ${onlineSoftmax(tile, rows, lazy)}
    ${dropout?.weights(vectors, rows.declareRow) ?? ''}

    ${hasValues ? "// O' = e^(m − m') · O + P·V" : ''}
    ${backend.accumulate(products, sums)}`;

  // At the end, each lane has summed its own keys only, so the row's sum must be taken over its lanes.
  const body = `
  ${rows.declare}
  ${backend.lane}

  // Each row's maximum m, sum l over this lane's keys, and O
  ${repeat(grid.rows, r => `var m${r} = ${lowest};\n  var l${r} = 0.0;`)}
  ${hasValues ? backend.accumulators('acc', problem.Dv) : ''}

  ${backend.loadStationary(products, summed)}
  let keys = ${split ? 'part_of(key_range(seq, i0, i1), part)' : 'key_range(seq, i0, i1)'};
  ${backend.loop(
    {
      ...{ variable: 'j0', range: 'keys', size: cols },
      isFull: at => `tile_inside(seq, i0, i1, ${at}, ${at} + ${cols}u)`,
      body: keyTile,
    },
    products,
    sums,
    score.isVisibleTile,
  )}

  // l of all keys
  ${backend.reduceRows({
    name: 'sum',
    own: r => `l${r}`,
    join: (a, b) => `${a} + ${b}`,
    identity: '0.0',
    afterBarrier: false,
  })}${backend.markRows ?? ''}
  ${finish.code}
  ${fp8.finish}`;

  return kernelSpec({
    name: split ? 'attention forward part' : 'attention forward',
    groups: rows.grid,
    workgroupSize: lanes,
    parts: [
      { uniforms: [...rows.uniforms, ...headGroups(problem)] },
      ...backend.parts(products, summed),
      ...fp8.parts,
      ...sequencePart(problem, { ...operands, ...finish.operands }),
      ...readOperands(operands, config, operandType),
      rowAddressing(problem),
      reads.part,
      ...score.parts,
      dropout?.part(problem) ?? {},
      ...finish.parts,
      onlineSoftmaxPart,
    ],
    declarations: split?.range(cols) ?? '',
    body,
    bindingBudget: config.bindingBudget,
  });
}
