import type { AttentionProblem } from '@tilewise/core';
import { lowest } from '../../../codegen/formats/float-bits.ts';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import { type Fp8Kernel, forwardAmaxes, fp8Kernel } from '../../config/fp8-steps.ts';
import type { ForwardFinish, KernelConfig } from '../../config/kernel-config.ts';
import { readOperand, writeOperand } from '../../layout/operand.ts';
import { rowAddressing, rowOutput, rowOutputsOf, softmaxEnd, writeRow } from '../../layout/row-results.ts';
import { sequencePart } from '../../layout/sequence.ts';
import { scorePart } from '../../score/score.ts';
import { sinkPart } from '../../score/sink.ts';
import { type Tile, tileSize } from '../../tiles/tile.ts';
import { type AccumulateGemm, storeRow } from '../../tiles/tile-backend.ts';
import { headGroups, keyHeads, tileOperands, tileResult } from '../../tiles/tile-operands.ts';
import { workgroupReads } from '../workgroup-reads.ts';
import type { ForwardShape } from './forward-shape.ts';
import { type QueryRows, queryRows, rowSums } from './query-rows.ts';

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
  { tile, heads, parts }: ForwardShape,
  config: KernelConfig,
): KernelSpec {
  const { B, Hq, Sq, Dv } = problem;
  const rows = queryRows(heads, tile);
  const { rows: tileRows, cols, lanes } = tileSize(tile.grid);
  const { grid, backend, operandType } = tile;
  const { scoreVectors: vectors } = backend;
  const scored = (b: number): string => vectors.of('scored', b);
  const tiles = Math.ceil((Sq * heads) / tileRows);
  const score = scorePart(problem, {
    tile: heads === 1 ? tile : null,
    ...{ slope: 'none', markRows: backend.markRows },
    mods: config.tools.mods,
  });
  const hasValues = problem.fp8?.kind !== 'scaled';
  const dropout = hasValues && problem.dropout ? config.tools.dropout : null;
  const { q, k, v } = tileOperands(problem);
  // Lazy rescaling would change the outputs max and sumExp.
  const lazy = problem.outputs.max || problem.outputs.sumExp ? null : backend.lazyRescaling;
  const products = [{ into: 's', a: rows.operand(q), b: k }] as const;
  const fp8 = fp8Kernel(
    config.tools.fp8?.arithmetic,
    problem,
    hasValues ? ['weight', 'o'] : ['product'],
    hasValues ? forwardAmaxes(problem) : [],
  );
  const split = parts > 1 ? config.tools.splitKv : null;
  const finish = split
    ? split.finish(problem, tile, parts, rows.place('r'))
    : wholeResult(problem, tile, rows, config, fp8);

  const reads = workgroupReads(split !== null);
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

  // At the end, each lane has summed its own keys only, so the row's sum must be taken over its lanes.
  const body = `
  // One tile of queries; large causal ones first.
  ${split ? 'let part = group % P.parts;' : ''}
  let place = ${split ? 'group / P.parts' : 'group'};
  let tile = P.tiles - 1u - place % P.tiles;
  let h = (place / P.tiles) % P.head_groups${heads === 1 ? '' : ' * P.row_heads'};
  ${keyHeads}
  ${reads.sequence('place / (P.tiles * P.head_groups)')}
  let row0 = tile * ${tileRows}u;
  ${backend.place}
  ${rows.span}

  // Each row's maximum m, sum l of this lane's keys, and O
  ${repeat(grid.rows, r => `var m${r} = ${lowest};\n  var l${r} = 0.0;`)}
  ${hasValues ? backend.accumulators('acc', Dv) : ''}

  ${backend.loadStationary(products, summed)}
  let keys = ${split ? 'part_of(key_range(seq, i0, i1), part)' : 'key_range(seq, i0, i1)'};
  ${backend.loop(
    `for (var j0 = keys.x / ${cols}u * ${cols}u; j0 < keys.y; j0 += ${cols}u) {
    ${reads.skip(score.isVisibleTile)}
    // S = Q·Kᵀ
    let full_tile = tile_inside(seq, i0, i1, j0, j0 + ${cols}u);
    ${backend.scores(products, sums, score.isVisibleTile)}

    let j = j0 + tx * ${4 * grid.cols}u;
    ${repeat(grid.rows * grid.cols, b => `var p${b} = vec4f();`)}
    ${repeat(grid.rows, r => `var rescale${r} = 1.0;`)}
    ${backend.specialised(
      fullTile => `${vectors.declare(['s'], ['scored'], 'Score4')}
    ${vectors.each(
      ({ row, key, of }) => `${rows.place(row)}
    ${of('scored')} = score4(seq, head, query, ${key}, ${of('s')}, ${fullTile});`,
    )}

    // m' = max(m, rowmax(S))
    ${backend.reduceRows({
      name: lazy ? 'm_seen' : 'm_new',
      own: r =>
        `${'max('.repeat(grid.cols)}m${r}${repeat(grid.cols, c => `, largest(${scored(r * grid.cols + c)}))`, '')}`,
      join: (a, b) => `max(${a}, ${b})`,
      identity: lowest,
      afterBarrier: true,
    })}
    ${lazy ? repeat(grid.rows, r => lazy.maximum(r, fullTile)) : ''}

    // P = e^(S − m')
    ${repeat(
      grid.rows * grid.cols,
      b =>
        `p${b} = select(vec4f(), exp(${scored(b)}.value - ${lazy ? 'shift' : 'm_new'}${Math.floor(b / grid.cols)}), ${scored(b)}.visible);`,
    )}

    // l' = e^(m − m') · l + rowsum(P)
    ${repeat(
      grid.rows,
      r => `rescale${r} = ${lazy?.factor(r, fullTile) ?? `exp(m${r} - m_new${r})`};
    m${r} = m_new${r};
    l${r} = l${r} * rescale${r} + ${repeat(grid.cols, c => `sum4(p${r * grid.cols + c})`, ' + ')};`,
    )}`,
    )}
    ${dropout?.weights(vectors, rows.place) ?? ''}

    ${hasValues ? "// O' = e^(m − m') · O + P·V" : ''}
    ${backend.accumulate(products, sums)}
  }`,
    products,
    sums,
    score.isVisibleTile,
  )}

  // l of all lanes
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
    groups: {
      batches: B,
      heads: Hq / heads,
      tiles,
      workgroups: parts,
      side: 'q',
      rows: tileRows / heads,
      reversed: true,
    },
    workgroupSize: lanes,
    parts: [
      {
        uniforms: [
          ...u32Uniforms({ tiles, head_groups: Hq / heads }),
          ...headGroups(problem),
          ...rows.uniforms,
        ],
      },
      ...backend.parts(products, summed),
      ...fp8.parts,
      ...sequencePart(problem, {
        q: problem.q,
        k: problem.k,
        ...(hasValues && { v: problem.v }),
        ...finish.operands,
      }),
      readOperand('q', problem.q, config, operandType),
      readOperand('k', problem.k, config, operandType),
      ...(hasValues ? [readOperand('v', problem.v, config, operandType)] : []),
      rowAddressing(problem),
      reads.part,
      ...score.parts,
      dropout?.part(problem) ?? {},
      ...finish.parts,
    ],
    declarations: `${rowFunctions}\n\n${split?.range(cols) ?? ''}`,
    body,
    bindingBudget: config.bindingBudget,
  });
}

/** `largest(scores) -> f32`, for which a masked score is the lowest number, and `sum4(x) -> f32`. */
const rowFunctions = `fn largest(s: Score4) -> f32 {
  let x = select(vec4f(${lowest}), s.value, s.visible);
  return max(max(x.x, x.y), max(x.z, x.w));
}

fn sum4(x: vec4f) -> f32 {
  return dot(x, vec4f(1.0));
}`;

/** Stores o (except in FP8), lse, and the other requested outputs. */
function wholeResult(
  problem: AttentionProblem,
  tile: Tile,
  rows: QueryRows,
  config: KernelConfig,
  fp8: Fp8Kernel,
): ForwardFinish {
  const outputs = rowOutputsOf(problem);
  const hasValues = problem.fp8?.kind !== 'scaled';
  const { backend } = tile;
  const own = tile.grid.rows;
  const o = tileResult('o', problem, problem.o);
  const [m, l, scale] = problem.sink
    ? ['joined.x', 'joined.y', 'joined.z']
    : ['m_rows[r]', 'l_rows[r]', '1.0'];
  return {
    code: `// o = O / l, lse = m + ln l
  ${hasValues ? backend.results('acc', problem.Dv) : ''}
  ${rowSums(own)}
  for (var r = 0u; r < ${own}u; r++) {
    ${rows.place('r')}${
      problem.sink
        ? `
    var joined = vec3f(m_rows[r], l_rows[r], 1.0);
    if (query < seq.length_q) {
      joined = join_sink(head, joined.x, joined.y);
    }`
        : ''
    }
    let m = ${m};
    let l = ${l};
    let scale = output_scale(m, l, ${scale});
    ${
      hasValues
        ? `if (query < ${o.end}) {
      let row = o_row(seq, head, query);
      ${storeRow(backend, 'acc', o, x => `o_store4(row, 4u * place, ${fp8.apply('o', `${x} * scale`)});`)}
    }`
        : ''
    }
    if (tx == 0u && query < row_count(seq)) {
      let at = row_at(seq, head, query);
      ${writeRow(outputs, 'm', 'l')}
    }
  }`,
    operands: hasValues ? { o: problem.o } : {},
    parts: [
      ...(hasValues ? [writeOperand('o', problem.o, config)] : []),
      softmaxEnd,
      ...outputs.map(rowOutput),
      problem.sink ? sinkPart() : {},
    ],
  };
}
