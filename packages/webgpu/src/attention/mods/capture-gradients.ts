import { type BackwardProblem, dtypeTraits, elementCount, type TensorDesc } from '@tilewise/core';
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
import { exprFunction, placeArguments, placeParameters } from './score-mods.ts';

/**
 * A table of all captured floats of a problem, one row-major tensor after the other; a vector of the table
 * holds two floats.
 */
interface Table {
  readonly captures: readonly {
    readonly name: string;
    readonly desc: TensorDesc;
    readonly first: number;
    readonly count: number;
  }[];
  readonly vectors: number;
  /** The number of tables that are summed independently, each by one workgroup. */
  readonly copies: number;
}

/** The maximum memory for all copies together (in vectors of 8 bytes), unless a single copy needs more. */
const maxTableVectors = 2 ** 22;
const maxCopies = 256;

function tableOf({ forward: { B, Hq, Sq, captures } }: BackwardProblem): Table {
  let first = 0;
  const placed = Object.entries(captures)
    .filter(([, { dtype }]) => dtypeTraits[dtype].kind === 'float')
    .map(([name, desc]) => {
      const one = { name, desc, first, count: elementCount(desc.shape) };
      first += one.count;
      return one;
    });
  const vectors = Math.ceil(first / 2);
  const strips = B * Hq * Math.ceil(Sq / tileSize(defaultTile.grid).rows);
  const fitting = Math.floor(maxTableVectors / Math.max(vectors, 1));
  return { captures: placed, vectors, copies: Math.max(1, Math.min(strips, maxCopies, fitting)) };
}

/** The number of vectors that the tables of a problem use in `workspace.sums`; 0 without a score mod. */
function captureTableVectors(problem: BackwardProblem): number {
  if (!problem.forward.scoreMod) return 0;
  const { vectors, copies } = tableOf(problem);
  return vectors * copies;
}

/** The kernels of the gradients of captured tensors, whose expressions `expr` writes as WGSL. */
export const captureGradientTools = (expr: ExprTools): SumTools => ({
  kernels: (problem, config) => captureGradientKernels(problem, config, expr),
  vectors: captureTableVectors,
});

/** A read of a captured tensor in a score mod. */
interface Site {
  readonly capture: Table['captures'][number];
  /**
   * WGSL: for site n, `siteN_partial`, the derivative of the score mod by the element that it reads, and
   * `siteN_place`, the index of this element in the table.
   */
  readonly code: string;
}

function sitesOf({ forward: { scoreMod } }: BackwardProblem, tools: ExprTools, { captures }: Table): Site[] {
  if (!scoreMod) return [];
  return captures
    .filter(({ count }) => count > 0)
    .flatMap(capture => tools.loadGradients(scoreMod, capture.name).map(gradient => ({ capture, gradient })))
    .map(({ capture, gradient: { index, partial } }, n) => {
      const { name } = capture;
      const place = index
        .map(
          (_, d) =>
            `  at = at * (u32(P.captured_${name}_last${d}) + 1u) + u32(clamp(site${n}_index${d}(${names}), 0i, P.captured_${name}_last${d}));`,
        )
        .join('\n');
      const code = [
        exprFunction(tools, `site${n}_partial`, 'f32', partial),
        ...index.map((e, d) => exprFunction(tools, `site${n}_index${d}`, 'i32', e)),
        `fn site${n}_place(${placeParameters}) -> u32 {
  var at = 0u;
${place}
  return P.captured_${name}_table + at;
}`,
      ].join('\n\n');
      return { capture, code };
    });
}

const names = 'score, b, h, q, kv';

/**
 * The gradients of the tensors that the score mod loads floats from. Each score takes its gradient with
 * respect to the modified score, times the derivative with respect to the element that the mod reads, and
 * adds the product to that element.
 *
 * The kernels use no atomics, and give the same bits in every run: a workgroup has a table of its own, in
 * which each lane owns the elements of one residue class. The lanes compute a tile of (place, value) pairs
 * together; then every lane loops over all pairs in order and adds those of its own elements. A second kernel
 * adds the tables, once for each tensor.
 */
function captureGradientKernels(
  problem: BackwardProblem,
  config: KernelConfig,
  expr: ExprTools,
): KernelSpec[] {
  const tile = defaultTile;
  const { forward } = problem;
  const { scoreMod, B, Hq, Sq } = forward;
  if (!scoreMod) return [];
  const wanted = expr.floatCaptures(scoreMod);
  if (wanted.length === 0) return [];
  const table = tableOf(problem);
  const sites = sitesOf(problem, expr, table);
  const gradient = gradientTile(
    problem,
    { ...config, tile },
    { weight: false, ds: true, slope: 'by the modified score', writesWorkspace: true },
  );
  const { rows, cols, lanes } = tileSize(tile.grid);
  const tiles = Math.ceil(Sq / rows);
  const tables: ShaderPart = {
    uniforms: u32Uniforms({ table_vectors: table.vectors, tables: table.copies }),
  };
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
    ${sites.map((_, n) => scatter(n, gradient.vectors)).join('\n')}
  }
  }`;
  const scatterKernel = kernelSpec({
    name: 'attention dCaptures',
    groups: table.copies,
    workgroupSize: lanes,
    parts: [
      {
        uniforms: [
          ...u32Uniforms({ strips: tiles * Hq * B, tiles }),
          ...[...new Set(sites.map(({ capture }) => capture))].map(
            ({ name, first }) => ({ name: `captured_${name}_table`, type: 'u32', value: first }) as const,
          ),
        ],
      },
      tables,
      partialSumsPart('read_write'),
      ...gradient.parts,
      ...sites.map(({ code }) => ({ code })),
    ],
    declarations: addPairs(),
    body,
    bindingBudget: config.bindingBudget,
  });
  const reduceKernels = table.captures
    .filter(({ name }) => wanted.includes(name))
    .map(capture => reduceKernel(capture, table, tables));
  return [scatterKernel, ...reduceKernels];
}

/**
 * Statements that make the pairs of one site from this lane's scores, and add all pairs of the workgroup to
 * its table.
 */
function scatter(site: number, vectors: ScoreVectors): string {
  return `workgroupBarrier();
    ${vectors.each(
      ({ row, of }) => `let ds = ${of('ds')};
      let unmodified = ${of('unmodified')};
      var values = vec4f();
      var at = vec4u(nowhere);
      for (var c = 0u; c < 4u; c++) {
        let i = i + ${row};
        let partial = site${site}_partial(unmodified[c], ${placeArguments});
        // The derivative may be NaN for a masked pair, and in a branch of the mod that is not taken.
        if (ds[c] != 0.0 && partial != 0.0) {
          values[c] = ds[c] * partial;
          at[c] = site${site}_place(unmodified[c], ${placeArguments});
        }
      }
      staged[ty * 4u + ${row}][tx] = values;
      places[(ty * 4u + ${row}) * ${defaultTile.grid.tx}u + tx] = at;`,
    )}
    workgroupBarrier();
    add_pairs(table, lane);`;
}

/**
 * `add_pairs(table, lane)`: consecutive pairs of the same table vector are summed before they are added to
 * the table, so that sums stay short.
 */
function addPairs(): string {
  const { rows, cols, lanes } = tileSize(defaultTile.grid);
  const pairVectors = (rows * cols) / 4;
  return `const nowhere = 0xffffffffu;
var<workgroup> places: array<vec4u, ${pairVectors}>;

fn add_pairs(table: u32, lane: u32) {
  var own = nowhere;
  var sum = vec2f();
  for (var n = 0u; n < ${pairVectors}u; n++) {
    for (var c = 0u; c < 4u; c++) {
      let at = places[n][c];
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
function reduceKernel(
  { name, desc, first, count }: Table['captures'][number],
  { copies }: Table,
  tables: ShaderPart,
): KernelSpec {
  const body = `
  let n = ${invocationIndex};
  if (n < P.count) {
    var sum = 0.0;
    for (var copy = 0u; copy < P.copies; copy++) {
      sum += partial_sums[P.partial_sums_base + copy * P.table_vectors + (P.first + n) / 2u][(P.first + n) % 2u];
    }
    result_store(n, sum);
  }`;
  return kernelSpec({
    name: `attention ${captureGradient(name)}`,
    ...invocations(count),
    parts: [
      { uniforms: u32Uniforms({ count, copies, first }) },
      tables,
      partialSumsPart('read'),
      elementStore('result', desc.dtype, captureGradient(name)),
    ],
    body,
  });
}
