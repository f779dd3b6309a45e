import type { AttentionProblem } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../kernel/kernel-spec.ts';
import type { ShaderPart } from '../kernel/shader-part.ts';
import { dropoutPart } from './dropout.ts';
import type { ForwardShape } from './forward-shape.ts';
import { forwardAmaxes } from './fp8-amaxes.ts';
import { type Fp8Kernel, fp8Kernel } from './fp8-kernel.ts';
import { readOperand, writeOperand } from './operand.ts';
import { partialsPart } from './partials.ts';
import { type QueryRows, queryRows } from './query-rows.ts';
import { lowest, rowAddressing, rowOutput, rowOutputsOf, writeRow } from './row-results.ts';
import { scorePart } from './score/score.ts';
import { type KernelOperands, sequencePart } from './sequence.ts';
import { sinkPart } from './sink.ts';
import {
  accumulate,
  accumulators,
  products,
  repeat,
  storeRows,
  storeWeightsByKey,
  type Tile,
  tileCols,
  tileDeclarations,
  tileLanes,
  tileRequires,
  tileRows,
  vectorsPerLane,
} from './tile.ts';
import { headGroups, tileOperands, tileResult } from './tile-operands.ts';
import type { KernelConfig } from './tile-table.ts';
import { workgroupReads } from './workgroup-reads.ts';

/**
 * Flash attention forward (Dao 2023, algorithm 1 with the loop order of FlashAttention-2): a workgroup has one tile of
 * queries and walks over the key tiles that they may see, with a running row maximum m, sum l and unnormalised output.
 *
 *     m' = max(m, rowmax(S))      P = exp(S − m')      l' = e^{m−m'}·l + rowsum(P)      O' = e^{m−m'}·O + dropout(P)·V
 *
 * and at the end o = O / l, lse = m + ln l. With more than one part, a workgroup walks over its part of these key tiles only,
 * and leaves m, l and O in the workspace to be merged. In FP8 only the statistics of the rows are computed here, see `roundedValuesKernel`.
 */
export function forwardKernel(
  problem: AttentionProblem,
  { tile, heads, parts }: ForwardShape,
  config: KernelConfig,
): KernelSpec {
  const { B, Hq, Sq, Dv } = problem;
  const rows = queryRows(heads, tile);
  const cols = tileCols(tile);
  const tiles = Math.ceil((Sq * heads) / tileRows(tile));
  const score = scorePart(problem, {
    tile: heads === 1 ? tile : null,
    slope: 'none',
    tools: config.tools.expr,
  });
  const hasValues = problem.fp8?.kind !== 'scaled';
  const dropout = hasValues ? dropoutPart(problem) : null;
  const { q, k, v } = tileOperands(problem);
  const perLane = hasValues ? vectorsPerLane(Dv, tile) : 0;
  const fp8 = hasValues
    ? fp8Kernel(config.tools.fp8, problem, ['weight', 'o'], forwardAmaxes(problem))
    : fp8Kernel(config.tools.fp8, problem, ['product']);
  const finish =
    parts === 1 ? wholeResult(problem, tile, rows, config, fp8) : partialResult(problem, tile, parts);

  const reads = workgroupReads(parts > 1);

  // At the end each lane has summed its own keys: the row's sum is over all its lanes.
  const body = `
  let part = ${parts === 1 ? '0u' : 'group % P.parts'};
  let place = ${parts === 1 ? 'group' : 'group / P.parts'};
  let tile = P.tiles - 1u - place % P.tiles;
  let h = (place / P.tiles) % P.head_groups * ${heads === 1 ? '1u' : 'P.row_heads'};
  ${reads.sequence('place / (P.tiles * P.head_groups)')}
  let row0 = tile * ${tileRows(tile)}u;
  let tx = lane % ${tile.tx}u;
  let ty = lane / ${tile.tx}u;
  ${rows.span}
  ${rows.places}
  ${repeat(4, r => `var m${r} = ${lowest};\n  var l${r} = 0.0;`, '\n  ')}
  ${hasValues ? accumulators(tile, 'acc', Dv) : ''}

  let keys = ${parts === 1 ? 'key_range(seq, i0, i1)' : `part_of(key_range(seq, i0, i1), part)`};
  for (var j0 = keys.x / ${cols}u * ${cols}u; j0 < keys.y; j0 += ${cols}u) {
    ${reads.skip(score.showsTile)}
    ${products(tile, [{ into: 's', a: rows.operand(q), b: k }])}

    let whole = tile_inside(seq, i0, i1, j0, j0 + ${cols}u);
    let j = j0 + tx * 4u;
    ${repeat(
      4,
      r => `var inside${r} = vec4<bool>(true);
    if (!whole) {
      inside${r} = inside4(seq, query${r}, j);
    }
    let score${r} = score4(seq, head${r}, query${r}, j, s${r}, inside${r});
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
    ${dropout ? repeat(4, r => `let weight${r} = p${r} * dropout4(seq, head${r}, query${r}, j);`, '\n    ') : ''}
    ${
      hasValues
        ? `${storeWeightsByKey(tile, r => fp8.apply('weight', dropout ? `weight${r}` : `p${r}`))}
    ${accumulate(tile, 'acc', v, { over: 'keys', watch: score.hides ? 'true' : '!whole' })}`
        : ''
    }
  }

  workgroupBarrier();
  ${repeat(4, r => `row_partial[(ty * 4u + ${r}u) * ${tile.tx}u + tx] = l${r};`, '\n  ')}
  workgroupBarrier();
  ${repeat(
    4,
    r => `l${r} = 0.0;
  for (var x = 0u; x < ${tile.tx}u; x++) {
    l${r} += row_partial[(ty * 4u + ${r}u) * ${tile.tx}u + x];
  }`,
    '\n  ',
  )}
  ${finish.code}
  ${fp8.finish}`;

  return kernelSpec({
    name: parts === 1 ? 'attention forward' : 'attention forward part',
    groups: {
      ...{ batches: B, heads: Hq / heads, tiles, each: parts },
      ...{ side: 'q', rows: tileRows(tile) / heads, reversed: true },
    },
    workgroupSize: tileLanes(tile),
    parts: [
      {
        uniforms: [
          { name: 'tiles', type: 'u32', value: tiles },
          { name: 'head_groups', type: 'u32', value: Hq / heads },
          ...headGroups(problem),
          ...rows.uniforms,
        ],
        requires: tileRequires,
      },
      ...fp8.parts,
      ...sequencePart(problem, {
        q: problem.q,
        k: problem.k,
        ...(hasValues && { v: problem.v }),
        ...finish.operands,
      }),
      readOperand('q', problem.q, config),
      readOperand('k', problem.k, config),
      ...(hasValues ? [readOperand('v', problem.v, config)] : []),
      rowAddressing(problem),
      reads.part,
      ...score.parts,
      ...(dropout ? [dropout] : []),
      ...finish.parts,
    ],
    declarations: `${tileDeclarations(tile)}${parts === 1 ? '' : `\n\n${partOf(cols)}`}`,
    body,
    room: config.room,
  });
}

/** The end of the kernel: what is stored of m, l and the accumulators, and the parts that this takes. */
interface Finish {
  readonly code: string;
  readonly operands: KernelOperands;
  readonly parts: readonly ShaderPart[];
}

/** o, but in FP8, lse and what else was asked for. */
function wholeResult(
  problem: AttentionProblem,
  tile: Tile,
  rows: QueryRows,
  config: KernelConfig,
  fp8: Fp8Kernel,
): Finish {
  const outputs = rowOutputsOf(problem);
  const hasValues = problem.fp8?.kind !== 'scaled';
  const o = rows.operand(tileResult('o', problem, problem.o));
  const joinSink = (r: number): string => `if (query${r} < seq.length_q) {
    let joined = join_sink(head${r}, m${r}, l${r});
    m${r} = joined.x;
    l${r} = joined.y;
    scale${r} = joined.z;
  }`;
  return {
    code: `${repeat(
      4,
      r => `var scale${r} = 1.0;
  ${problem.sink ? joinSink(r) : ''}
  scale${r} = select(0.0, scale${r} / l${r}, l${r} != 0.0);`,
      '\n  ',
    )}
  ${hasValues ? storeRows(tile, o, (r, n) => fp8.apply('o', `acc${r}_${n} * scale${r}`)) : ''}
  if (tx == 0u) {
    ${repeat(
      4,
      r => `if (query${r} < row_count(seq)) {
      let at = row_at(seq, head${r}, query${r});
      ${writeRow(outputs, `m${r}`, `l${r}`)}
    }`,
      '\n    ',
    )}
  }`,
    operands: hasValues ? { o: problem.o } : {},
    parts: [
      ...(hasValues ? [writeOperand('o', problem.o, config)] : []),
      ...outputs.map(rowOutput),
      problem.sink ? sinkPart() : {},
    ],
  };
}

/** The results of one part of the keys. */
function partialResult({ Dv }: AttentionProblem, tile: Tile, parts: number): Finish {
  return {
    code: repeat(
      4,
      r => `if (query${r} < seq.length_q) {
    let first = partial_at(row_at(seq, head${r}, query${r}), part);
    if (tx == 0u) {
      workspace[first] = vec4f(m${r}, l${r}, 0.0, 0.0);
    }
    ${repeat(
      vectorsPerLane(Dv, tile),
      n => `if (${n * tile.tx}u + tx < P.partial_vectors - 1u) {
      workspace[first + ${n * tile.tx + 1}u + tx] = acc${r}_${n};
    }`,
      '\n    ',
    )}
  }`,
      '\n  ',
    ),
    operands: {},
    parts: [partialsPart(Dv, parts, 'read_write')],
  };
}

/** `part_of(keys, part)`: the range of one part, of as many whole tiles as any other but the last. */
function partOf(cols: number): string {
  return `fn part_of(keys: vec2u, part: u32) -> vec2u {
  let first = keys.x / ${cols}u;
  let end = max(first, (keys.y + ${cols - 1}u) / ${cols}u);
  let each = (end - first + P.parts - 1u) / P.parts;
  let begin = first + part * each;
  return vec2u(begin * ${cols}u, min(keys.y, (begin + each) * ${cols}u));
}`;
}
