import type { BackwardProblem } from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import { elementStore } from '../../codegen/formats/element-store.ts';
import { invocationIndex, invocations, type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { SumTools, TileConfig } from '../config/kernel-config.ts';
import { captureGradient } from '../config/tensor-names.ts';
import { gradientTile } from '../kernels/backward/gradient-tile.ts';
import { partialSumsPart } from '../kernels/backward/partial-sums.ts';
import { sumTile } from '../kernels/backward/sum-tile.ts';
import { type Tile, tileSize } from '../tiles/tile.ts';
import { keyHeads } from '../tiles/tile-operands.ts';
import {
  type CapturedFloats,
  type CaptureTable,
  captureTable,
  captureTableVectors,
} from './capture-table.ts';
import { type CapturedLoad, capturedLoads } from './captured-loads.ts';
import { pairBytes, tableSums } from './table-sums.ts';

/** The kernels of the gradients of captured tensors, whose expressions `expr` writes as WGSL. */
export const captureGradientTools = (expr: ExprTools): SumTools => ({
  kernels: (problem, config, capabilities) =>
    captureGradientKernels(
      problem,
      { ...config, tile: captureTile(problem, config.tile, capabilities) },
      expr,
    ),
  vectors: (problem, dq, capabilities) =>
    captureTableVectors(problem, captureTile(problem, dq, capabilities)),
});

const captureTile = (problem: BackwardProblem, dq: Tile, capabilities: Capabilities): Tile =>
  sumTile(dq, problem.forward, capabilities, tile => pairBytes(tile, captureTable(problem, tile)));

/**
 * The gradients of the tensors that the score mod loads floats from. Each score takes its gradient with
 * respect to the modified score, times the derivative with respect to the element that the mod reads, and
 * adds the product to that element: see `tableSums`. A second kernel adds the tables of all workgroups, once
 * for each tensor.
 */
function captureGradientKernels(problem: BackwardProblem, config: TileConfig, expr: ExprTools): KernelSpec[] {
  const { scoreMod } = problem.forward;
  if (!scoreMod) return [];
  const wanted = expr.floatCaptures(scoreMod);
  if (wanted.length === 0) return [];
  const table = captureTable(problem, config.tile);
  const reduced = table.captures.filter(({ name }) => wanted.includes(name));
  return [
    scatterKernel(problem, config, table, capturedLoads(problem, expr, table)),
    ...reduced.map(capture => reduceKernel(capture, table)),
  ];
}

/** Adds the gradients of all scores to tables of the workgroups. */
function scatterKernel(
  problem: BackwardProblem,
  config: TileConfig,
  table: CaptureTable,
  loads: readonly CapturedLoad[],
): KernelSpec {
  const { tile } = config;
  const { B, Hq, Sq } = problem.forward;
  const gradient = gradientTile(problem, config, {
    ...{ weight: false, ds: true, slope: 'by the modified score', writesWorkspace: true },
  });
  const { rows, lanes } = tileSize(tile.grid);
  const tiles = Math.ceil(Sq / rows);
  const sums = tableSums(tile, table);
  const body = `
  ${tile.backend.lane}
  ${sums.start}
  for (var strip = group; strip < P.strips; strip += P.groups) {
    let i0 = (strip % P.tiles) * ${rows}u;
    let h = (strip / P.tiles) % P.Hq;
    ${keyHeads}
    ${gradient.sequence('strip / (P.tiles * P.Hq)')}
    let keys = key_range(seq, i0, i0 + ${rows}u);
    ${gradient.loadRowValues}
    ${gradient.loadStationary}
    ${gradient.loop('j0', 'keys', [], { after: loads.map((_, n) => sums.add(n)).join('\n') })}
  }
  ${sums.finish}`;
  return kernelSpec({
    name: 'attention dCaptures',
    groups: table.groups,
    workgroupSize: lanes,
    parts: [
      {
        uniforms: [
          ...u32Uniforms({ strips: tiles * Hq * B, tiles, groups: table.groups }),
          ...[...new Set(loads.map(({ capture }) => capture))].map(
            ({ name, first }) => ({ name: `captured_${name}_table`, type: 'u32', value: first }) as const,
          ),
        ],
      },
      sums.part,
      partialSumsPart('read_write'),
      ...gradient.parts,
      ...loads.map(({ code }) => ({ code })),
    ],
    declarations: sums.declarations,
    body,
    bindingBudget: config.bindingBudget,
  });
}

/** Adds the tables of all workgroups, in order, for the elements of one tensor. */
function reduceKernel({ name, desc, first, count }: CapturedFloats, table: CaptureTable): KernelSpec {
  const body = `
  let n = ${invocationIndex};
  if (n < P.count) {
    var sum = 0.0;
    for (var other = 0u; other < P.groups; other++) {
      sum += partial_sums[P.partial_sums_base + other * P.group_vectors + (P.first + n) / 2u][(P.first + n) % 2u];
    }
    result_store(n, sum);
  }`;
  return kernelSpec({
    name: `attention ${captureGradient(name)}`,
    ...invocations(count),
    parts: [
      {
        uniforms: u32Uniforms({
          ...{ count, first },
          ...{ groups: table.groups, group_vectors: table.vectors * table.tables },
        }),
      },
      partialSumsPart('read'),
      elementStore('result', desc.dtype, captureGradient(name)),
    ],
    body,
  });
}
