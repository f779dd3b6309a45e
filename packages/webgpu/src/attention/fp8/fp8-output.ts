import type { AttentionProblem } from '@tilewise/core';
import { wordTensor } from '../../codegen/formats/tensor-binding.ts';
import { type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { forwardAmaxes, fp8Kernel } from '../config/fp8-steps.ts';
import type { KernelConfig } from '../config/kernel-config.ts';
import { skipUnless } from '../kernels/workgroup-reads.ts';
import { readOperands, writeOperand } from '../layout/operand.ts';
import { probabilitiesPart, rowAddressing } from '../layout/row-results.ts';
import { sequencePart } from '../layout/sequence.ts';
import { scorePart } from '../score/score.ts';
import { storeRows } from '../tiles/interface/tile-results.ts';
import { rowValues } from '../tiles/scores/row-values.ts';
import { tileSize } from '../tiles/tile.ts';
import { headGroups, keyHeads, tileOperands, tileResult } from '../tiles/tile-operands.ts';
import { defaultTile } from '../tiles/tile-table.ts';

/**
 * Computes o of an FP8 problem, whose P is rounded after normalisation: the forward kernel has computed lse,
 * so P = exp(S − lse) as in backward, with the same bits. A workgroup has one tile of queries and loops over
 * the key tiles that they may see.
 */
export function fp8OutputKernel(problem: AttentionProblem, config: KernelConfig): KernelSpec {
  const { tools } = config;
  const tile = defaultTile;
  const { backend, grid } = tile;
  const { scoreVectors: vectors } = backend;
  const lseOfRows = rowValues('lse', grid, vectors);
  const { B, Hq, Sq, Dv } = problem;
  const { rows, cols, lanes } = tileSize(tile.grid);
  const tiles = Math.ceil(Sq / rows);
  const score = scorePart(problem, { tile, slope: 'none', mods: tools.mods });
  const dropout = tools.dropout?.part(problem);
  const fp8 = fp8Kernel(tools.fp8?.arithmetic, problem, ['product', 'weight', 'o'], forwardAmaxes(problem));
  const operands = { q: problem.q, k: problem.k, v: problem.v };
  const { q, k, v } = tileOperands(problem);
  const o = tileResult('o', problem, problem.o);

  const scores = { into: 's', a: q, b: k };
  const body = `
  let tile = P.tiles - 1u - group % P.tiles;
  let h = (group / P.tiles) % P.Hq;
  ${keyHeads}
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let i0 = tile * ${rows}u;
  let tx = lane % ${grid.tx}u;
  let ty = lane / ${grid.tx}u;
  let i = i0 + ty * 4u;
  ${lseOfRows.load(
    '3e38f',
    (own, row) => `if (i + ${row} < seq.length_q) {
    let bits = lse[P.lse_base + row_at(seq, h, i + ${row})];
    ${own} = select(bitcast<f32>(bits), 3e38, bits == 0xff800000u);
  }`,
  )}
  ${backend.accumulators('acc', Dv)}

  let keys = key_range(seq, i0, i0 + ${rows}u);
  for (var j0 = keys.x / ${cols}u * ${cols}u; j0 < keys.y; j0 += ${cols}u) {
    ${skipUnless(score.isVisibleTile)}
    let full_tile = tile_inside(seq, i0, i0 + ${rows}u, j0, j0 + ${cols}u);
    ${backend.scores([scores], [], score.isVisibleTile)}
    let j = j0 + tx * 4u;
    ${vectors.declare(['s'], ['weight'])}
    ${vectors.each(({ row, key, of }) => {
      const pairs = `seq, h, i + ${row}, ${key}`;
      return `let scored = score4(${pairs}, ${of('s')}, full_tile);
    let p = probabilities(scored.value, ${lseOfRows.of(row)}, scored.visible);
    ${of('weight')} = ${fp8.apply('weight', dropout ? `p * dropout4(${pairs})` : 'p')};`;
    })}
    ${backend.accumulate([scores], [{ into: 'acc', weight: r => vectors.of('weight', r), operand: v, over: 'keys', nonFiniteGuard: score.masks ? 'true' : '!full_tile' }])}
  }
  ${storeRows(backend, 'acc', o, x => fp8.apply('o', x))}
  ${fp8.finish}`;

  return kernelSpec({
    name: 'attention fp8 output',
    groups: { batches: B, heads: Hq, tiles, side: 'q', rows, reversed: true },
    workgroupSize: lanes,
    parts: [
      { uniforms: [...u32Uniforms({ tiles }), ...headGroups(problem)] },
      ...backend.parts([scores], [v]),
      ...fp8.parts,
      ...sequencePart(problem, { ...operands, o: problem.o }),
      ...readOperands(operands, config),
      writeOperand('o', problem.o, config),
      rowAddressing(problem),
      probabilitiesPart,
      wordTensor('lse', 'read', 'u32'),
      ...score.parts,
      ...(dropout ? [dropout] : []),
    ],
    body,
    bindingBudget: config.bindingBudget,
  });
}
