import type { AttentionProblem } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../kernel/kernel-spec.ts';
import type { ShaderPart } from '../kernel/shader-part.ts';
import { dropoutPart } from './dropout.ts';
import { readOperand, writeOperand } from './operand.ts';
import { rowAddressing, rowOutput, rowTensor } from './row-results.ts';
import { scorePart } from './score/score.ts';
import { sequencePart } from './sequence.ts';
import {
  accumulate,
  accumulators,
  products,
  repeat,
  storeRows,
  storeWeightsByKey,
  tileCols,
  tileDeclarations,
  tileLanes,
  tileRequires,
  tileRows,
  vectorsPerLane,
} from './tile.ts';
import { headGroups, tileOperands, tileResult } from './tile-operands.ts';
import type { KernelConfig } from './tile-table.ts';

/** Least finite f32: the maximum of no scores. Not −Infinity, as WGSL arithmetic may assume that there are none. */
const lowest = '-0x1.fffffep+127f';

/**
 * Flash attention forward (Dao 2023, algorithm 1 with the loop order of FlashAttention-2): a workgroup has one tile of
 * queries and walks over the key tiles that they may see, with a running row maximum m, sum l and unnormalised output.
 *
 *     m' = max(m, rowmax(S))      P = exp(S − m')      l' = e^{m−m'}·l + rowsum(P)      O' = e^{m−m'}·O + dropout(P)·V
 *
 * and at the end o = O / l, lse = m + ln l.
 */
export function forwardKernel(problem: AttentionProblem, config: KernelConfig): KernelSpec {
  const { tile, tools } = config;
  const { B, Hq, Sq, Dv } = problem;
  const rows = tileRows(tile);
  const cols = tileCols(tile);
  const tiles = Math.ceil(Sq / rows);
  const score = scorePart(problem, { tile, slope: 'none', tools });
  const dropout = dropoutPart(problem);
  const { q, k, v } = tileOperands(problem);
  const o = tileResult('o', problem, problem.o);
  const rowOutputs: readonly RowOutput[] = [
    'lse',
    ...(problem.outputs.max ? (['max'] as const) : []),
    ...(problem.outputs.sumExp ? (['sumExp'] as const) : []),
  ];
  const sink: ShaderPart = problem.sink ? rowTensor('sink', 'read', 'f32') : {};
  const perLane = vectorsPerLane(Dv, tile);

  const body = `
  let tile = P.tiles - 1u - group % P.tiles;
  let h = (group / P.tiles) % P.Hq;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let i0 = tile * ${rows}u;
  let tx = lane % ${tile.tx}u;
  let ty = lane / ${tile.tx}u;
  ${repeat(4, r => `var m${r} = ${lowest};\n  var l${r} = 0.0;`, '\n  ')}
  ${accumulators(tile, 'acc', Dv)}

  let keys = key_range(seq, i0, i0 + ${rows}u);
  for (var j0 = keys.x / ${cols}u * ${cols}u; j0 < keys.y; j0 += ${cols}u) {
    ${score.skip}
    ${products(tile, [{ into: 's', a: q, b: k }])}

    let whole = tile_inside(seq, i0, i0 + ${rows}u, j0, j0 + ${cols}u);
    let i = i0 + ty * 4u;
    let j = j0 + tx * 4u;
    ${repeat(
      4,
      r => `var inside${r} = vec4<bool>(true);
    if (!whole) {
      inside${r} = inside4(seq, i + ${r}u, j);
    }
    let score${r} = score4(seq, h, i + ${r}u, j, s${r}, inside${r});
    let x${r} = select(vec4f(${lowest}), score${r}.value, score${r}.seen);
    row_partial[(ty * 4u + ${r}u) * ${tile.tx}u + tx] = max(max(x${r}.x, x${r}.y), max(x${r}.z, x${r}.w));`,
      '\n    ',
    )}
    workgroupBarrier();
    ${repeat(
      4,
      r => `var m_new${r} = m${r};
    for (var x = 0u; x < ${tile.tx}u; x++) {
      m_new${r} = max(m_new${r}, row_partial[(ty * 4u + ${r}u) * ${tile.tx}u + x]);
    }
    let p${r} = select(vec4f(), exp(score${r}.value - m_new${r}), score${r}.seen);
    let rescale${r} = exp(m${r} - m_new${r});
    m${r} = m_new${r};
    l${r} = l${r} * rescale${r} + dot(p${r}, vec4f(1.0));
    ${repeat(perLane, n => `acc${r}_${n} *= rescale${r};`, '\n    ')}`,
      '\n    ',
    )}
    ${dropout ? repeat(4, r => `let weight${r} = p${r} * dropout4(seq, h, i + ${r}u, j);`, '\n    ') : ''}
    ${storeWeightsByKey(tile, r => (dropout ? `weight${r}` : `p${r}`))}
    ${accumulate(tile, 'acc', v, { over: 'keys', watch: score.hides ? 'true' : '!whole' })}
  }

  // Each lane has summed its own keys; the row's sum is over all its lanes.
  workgroupBarrier();
  ${repeat(4, r => `row_partial[(ty * 4u + ${r}u) * ${tile.tx}u + tx] = l${r};`, '\n  ')}
  workgroupBarrier();
  ${repeat(
    4,
    r => `l${r} = 0.0;
  for (var x = 0u; x < ${tile.tx}u; x++) {
    l${r} += row_partial[(ty * 4u + ${r}u) * ${tile.tx}u + x];
  }
  ${problem.sink ? addSink(r, perLane) : ''}
  let inverse${r} = select(0.0, 1.0 / l${r}, l${r} != 0.0);`,
    '\n  ',
  )}
  ${storeRows(tile, o, (r, n) => `acc${r}_${n} * inverse${r}`)}
  if (tx == 0u) {
    ${repeat(
      4,
      r => `if (i0 + ty * 4u + ${r}u < row_count(seq)) {
      let at = row_at(seq, h, i0 + ty * 4u + ${r}u);
      let dead = l${r} == 0.0;
      ${rowOutputs.map(name => `${name}_write(at, ${rowValue(name, r)});`).join('\n      ')}
    }`,
      '\n    ',
    )}
  }`;

  return kernelSpec({
    name: 'attention forward',
    groups: tiles * Hq * B,
    workgroupSize: tileLanes(tile),
    parts: [
      {
        uniforms: [{ name: 'tiles', type: 'u32', value: tiles }, ...headGroups(problem)],
        requires: tileRequires,
      },
      ...sequencePart(problem, { q: problem.q, k: problem.k, v: problem.v, o: problem.o }),
      readOperand('q', problem.q, config),
      readOperand('k', problem.k, config),
      readOperand('v', problem.v, config),
      writeOperand('o', problem.o, config),
      rowAddressing(problem),
      ...rowOutputs.map(rowOutput),
      ...score.parts,
      ...(dropout ? [dropout] : []),
      sink,
    ],
    declarations: tileDeclarations(tile),
    body,
  });
}

/** The sink joins the softmax as a key without a value, in rows that exist. */
function addSink(r: number, perLane: number): string {
  return `if (i0 + ty * 4u + ${r}u < seq.length_q) {
    let sink_logit = sink[P.sink_base + h];
    let m_new = max(m${r}, sink_logit);
    let rescale = exp(m${r} - m_new);
    l${r} = l${r} * rescale + exp(sink_logit - m_new);
    m${r} = m_new;
    ${repeat(perLane, n => `acc${r}_${n} *= rescale;`, '\n    ')}
  }`;
}

type RowOutput = 'lse' | 'max' | 'sumExp';

/** Bits of a row's result; a row without keys has lse = max = −Infinity and sumExp = 0. */
function rowValue(name: RowOutput, r: number): string {
  const bits: Readonly<Record<RowOutput, string>> = {
    lse: `select(bitcast<u32>(m${r} + log(l${r})), 0xff800000u, dead)`,
    max: `select(bitcast<u32>(m${r}), 0xff800000u, dead)`,
    sumExp: `bitcast<u32>(l${r})`,
  };
  return bits[name];
}
