import type { BackwardProblem } from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import { elementStore } from '../../codegen/formats/element-store.ts';
import { invocationIndex, invocations, type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import type { KernelConfig, SumTools } from '../config/kernel-config.ts';
import { captureGradient } from '../config/tensor-names.ts';
import { gradientTile } from '../kernels/backward/gradient-tile.ts';
import { partialSumsPart } from '../kernels/backward/partial-sums.ts';
import type { ScoreVectors } from '../tiles/scores/score-vectors.ts';
import { tileSize } from '../tiles/tile.ts';
import { keyHeads } from '../tiles/tile-operands.ts';
import { defaultTile } from '../tiles/tile-table.ts';
import {
  type CapturedFloats,
  type CaptureTable,
  captureTable,
  captureTableVectors,
} from './capture-table.ts';
import { type CapturedLoad, capturedLoads } from './captured-loads.ts';
import { positionArguments } from './score-mods.ts';

/** The kernels of the gradients of captured tensors, whose expressions `expr` writes as WGSL. */
export const captureGradientTools = (expr: ExprTools): SumTools => ({
  kernels: (problem, config) => captureGradientKernels(problem, config, expr),
  vectors: captureTableVectors,
});

/**
 * The gradients of the tensors that the score mod loads floats from. Each score takes its gradient with
 * respect to the modified score, times the derivative with respect to the element that the mod reads, and
 * adds the product to that element.
 *
 * The kernels use no atomics, and give the same bits in every run: a workgroup has a table of its own, in
 * which each lane owns the elements of one residue class. The lanes compute a tile of (index, value) pairs
 * together; then every lane loops over all pairs in order and adds those of its own elements. A second kernel
 * adds the tables, once for each tensor.
 */
function captureGradientKernels(
  problem: BackwardProblem,
  config: KernelConfig,
  expr: ExprTools,
): KernelSpec[] {
  const { scoreMod } = problem.forward;
  if (!scoreMod) return [];
  const wanted = expr.floatCaptures(scoreMod);
  if (wanted.length === 0) return [];
  const table = captureTable(problem);
  const reduced = table.captures.filter(({ name }) => wanted.includes(name));
  return [
    scatterKernel(problem, config, table, capturedLoads(problem, expr, table)),
    ...reduced.map(capture => reduceKernel(capture, table)),
  ];
}

const tablesPart = ({ vectors, copies }: CaptureTable): ShaderPart => ({
  uniforms: u32Uniforms({ table_vectors: vectors, tables: copies }),
});

/** Adds the gradients of all scores to tables, one for each workgroup. */
function scatterKernel(
  problem: BackwardProblem,
  config: KernelConfig,
  table: CaptureTable,
  loads: readonly CapturedLoad[],
): KernelSpec {
  const tile = defaultTile;
  const { B, Hq, Sq } = problem.forward;
  const gradient = gradientTile(
    problem,
    { ...config, tile },
    { weight: false, ds: true, slope: 'by the modified score', writesWorkspace: true },
  );
  const { rows, cols, lanes } = tileSize(tile.grid);
  const tiles = Math.ceil(Sq / rows);
  const body = `
  let tx = lane % ${tile.grid.tx}u;
  let ty = lane / ${tile.grid.tx}u;
  let table = P.partial_sums_base + group * P.table_vectors;
  for (var n = lane; n < P.table_vectors; n += ${lanes}u) {
    partial_sums[table + n] = vec2f();
  }
  for (var strip = group; strip < P.strips; strip += P.tables) {
  let i0 = (strip % P.tiles) * ${rows}u;
  let h = (strip / P.tiles) % P.Hq;
  ${keyHeads}
  ${gradient.sequence('strip / (P.tiles * P.Hq)')}
  ${gradient.loadRowValues}
  let keys = key_range(seq, i0, i0 + ${rows}u);
  for (var j0 = keys.x / ${cols}u * ${cols}u; j0 < keys.y; j0 += ${cols}u) {
    ${gradient.skip}
    ${gradient.compute()}
    ${loads.map((_, n) => scatter(n, gradient.vectors)).join('\n')}
  }
  }`;
  return kernelSpec({
    name: 'attention dCaptures',
    groups: table.copies,
    workgroupSize: lanes,
    parts: [
      {
        uniforms: [
          ...u32Uniforms({ strips: tiles * Hq * B, tiles }),
          ...[...new Set(loads.map(({ capture }) => capture))].map(
            ({ name, first }) => ({ name: `captured_${name}_table`, type: 'u32', value: first }) as const,
          ),
        ],
      },
      tablesPart(table),
      partialSumsPart('read_write'),
      ...gradient.parts,
      ...loads.map(({ code }) => ({ code })),
    ],
    declarations: addPairs(),
    body,
    bindingBudget: config.bindingBudget,
  });
}

/**
 * Statements that make the pairs of load `n` from this lane's scores, and add all pairs of the workgroup to
 * its table.
 */
function scatter(n: number, vectors: ScoreVectors): string {
  return `workgroupBarrier();
    ${vectors.each(
      ({ row, of }) =>
        `let ds = ${of('ds')};
      let unmodified = ${of('unmodified')};
      var values = vec4f();
      var at = vec4u(nowhere);
      for (var c = 0u; c < 4u; c++) {
        let i = i + ${row};
        let derivative = load${n}_derivative(unmodified[c], ${positionArguments});
        // The derivative may be NaN for a masked pair. On Vulkan, != would be false for a NaN.
        if (!(ds[c] == 0.0 || derivative == 0.0)) {
          values[c] = ds[c] * derivative;
          at[c] = load${n}_element(unmodified[c], ${positionArguments});
        }
      }
      staged[ty * 4u + ${row}][tx] = values;
      targets[(ty * 4u + ${row}) * ${defaultTile.grid.tx}u + tx] = at;`,
    )}
    workgroupBarrier();
    add_pairs(table, lane);`;
}

/**
 * `add_pairs(table, lane)`: adds the pairs, whose indices in the table are in `targets`. Consecutive pairs of
 * the same table vector are summed before they are added to the table, so that sums stay short.
 */
function addPairs(): string {
  const { rows, cols, lanes } = tileSize(defaultTile.grid);
  const pairVectors = (rows * cols) / 4;
  return `const nowhere = 0xffffffffu;
var<workgroup> targets: array<vec4u, ${pairVectors}>;

fn add_pairs(table: u32, lane: u32) {
  var own = nowhere;
  var sum = vec2f();
  for (var n = 0u; n < ${pairVectors}u; n++) {
    for (var c = 0u; c < 4u; c++) {
      let at = targets[n][c];
      let vector = at / 2u;
      if (at != nowhere && vector % ${lanes}u == lane) {
        if (vector != own) {
          if (own != nowhere) {
            partial_sums[table + own] += sum;
          }
          own = vector;
          sum = vec2f();
        }
        let value = staged[n / ${defaultTile.grid.tx}u][n % ${defaultTile.grid.tx}u][c];
        sum += select(vec2f(value, 0.0), vec2f(0.0, value), at % 2u == 1u);
      }
    }
  }
  if (own != nowhere) {
    partial_sums[table + own] += sum;
  }
}`;
}

/** Adds all tables, in order, for the elements of one tensor. */
function reduceKernel({ name, desc, first, count }: CapturedFloats, table: CaptureTable): KernelSpec {
  const body = `
  let n = ${invocationIndex};
  if (n < P.count) {
    var sum = 0.0;
    for (var copy = 0u; copy < P.tables; copy++) {
      sum += partial_sums[P.partial_sums_base + copy * P.table_vectors + (P.first + n) / 2u][(P.first + n) % 2u];
    }
    result_store(n, sum);
  }`;
  return kernelSpec({
    name: `attention ${captureGradient(name)}`,
    ...invocations(count),
    parts: [
      { uniforms: u32Uniforms({ count, first }) },
      tablesPart(table),
      partialSumsPart('read'),
      elementStore('result', desc.dtype, captureGradient(name)),
    ],
    body,
  });
}
