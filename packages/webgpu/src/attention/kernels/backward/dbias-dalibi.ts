import { type BackwardProblem, type DType, elementCount } from '@tilewise/core';
import { elementStore } from '../../../codegen/formats/element-store.ts';
import { invocationIndex, invocations, type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import type { TileConfig } from '../../config/kernel-config.ts';
import { type Tile, tileSize } from '../../tiles/tile.ts';
import { keyHeads } from '../../tiles/tile-operands.ts';
import { gradientTile } from './gradient-tile.ts';
import { partialSumsPart } from './partial-sums.ts';
import {
  partialSumVectors,
  type SumDivision,
  storeElement,
  sumDivision,
  tileCoordinates,
} from './sum-division.ts';

/**
 * A tensor that contributes to every score. Its shape broadcasts to (B, Hq, Sq, Skv), and its gradient is the
 * sum of the scores' gradients dS times `share`, a WGSL expression for the four keys j to j + 3 of query i.
 */
interface ScoreInput {
  readonly name: 'dbias' | 'dAlibi';
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly share: (i: string, j: string) => string | null;
}

/**
 * The kernels of the requested gradients: dBias is dS summed over the dimensions along which the bias is
 * broadcast, and dAlibi[h] = Σ −|i + diagonal − j| · dS.
 */
export function scoreInputGradientKernels(problem: BackwardProblem, config: TileConfig): KernelSpec[] {
  return inputsOf(problem)
    .filter(({ name }) => problem.gradients.includes(name))
    .flatMap(input => scoreInputKernels(problem, config, input));
}

function inputsOf({ forward: { bias, alibi, Hq } }: BackwardProblem): ScoreInput[] {
  return [
    ...(bias ? [{ name: 'dbias', dtype: bias.dtype, shape: bias.source, share: () => null } as const] : []),
    ...(alibi
      ? [
          {
            name: 'dAlibi',
            dtype: 'f32',
            shape: [Hq, 1, 1],
            share: (i: string, j: string) =>
              `-vec4f(abs(vec4i(i32(${i}) + seq.diagonal - i32(${j})) - vec4i(0, 1, 2, 3)))`,
          } as const,
        ]
      : []),
  ];
}

/** The largest number of vectors that the sums of a problem use in `workspace.sums` at a time. */
export function scoreInputVectors(problem: BackwardProblem, tile: Tile): number {
  const vectors = inputsOf(problem).map(({ shape }) => partialSumVectors(sumDivision(problem, tile, shape)));
  return Math.max(0, ...vectors);
}

/** The kernel that computes the sums and, if several workgroups share a tile, one that adds their sums. */
function scoreInputKernels(problem: BackwardProblem, config: TileConfig, input: ScoreInput): KernelSpec[] {
  const division = sumDivision(problem, config.tile, input.shape);
  const coordinates = tileCoordinates(input.name, division, input.shape);
  const { chunks, tiles } = division;
  const isEmpty = input.shape.includes(0) || elementCount(tiles) === 0;
  return [
    sumKernel(problem, config, input, isEmpty ? { ...division, tiles: [0, 1, 1, 1] } : division, coordinates),
    ...(chunks > 1 && !isEmpty ? [chunksKernel(problem, input, division, coordinates)] : []),
  ];
}

/**
 * A workgroup loops, in a fixed order, over its share of the terms of one tile of the result, and recomputes
 * dS along the way: nothing of size Sq × Skv is stored, unless the result itself has this size.
 */
function sumKernel(
  problem: BackwardProblem,
  config: TileConfig,
  { name, dtype, share }: ScoreInput,
  division: SumDivision,
  coordinates: ShaderPart,
): KernelSpec {
  const { grid, backend } = config.tile;
  const { tiles, steps, chunks } = division;
  const [, , keepI, keepJ] = division.kept;
  const { rows, lanes } = tileSize(grid);
  const isShared = chunks > 1;
  const gradient = gradientTile(problem, config, {
    ...{ weight: false, ds: true, df: true, writesWorkspace: isShared },
  });
  const term = (r: number, c: number): string => {
    const factor = share(`(i + ${r}u)`, `(j + ${4 * c}u)`);
    return `${gradient.vectors.of('df', r * grid.cols + c)}${factor ? ` * (${factor})` : ''}`;
  };
  const ownRows = keepI ? grid.rows : 1;
  const width = keepJ ? division.cols : grid.tx;
  /**
   * The lane's sum for its row `r` of the result and, if the result has keys, for its vec4 `c` of the row.
   */
  const laneSum = (r: number, c: number): string =>
    repeat(keepI ? 1 : grid.rows, m => repeat(keepJ ? 1 : grid.cols, n => term(r + m, c + n), ' + '), ' + ');
  const added = repeat(ownRows, r =>
    keepJ
      ? repeat(
          grid.cols,
          c => `{
      let at = (ty * ${ownRows}u + ${r}u) * ${width}u + j - first + ${4 * c}u;
      let x = ${laneSum(r, c)};
      for (var n = 0u; n < 4u; n++) {
        sums[at + n] += x[n];
      }
    }`,
        )
      : `sums[(ty * ${ownRows}u + ${r}u) * ${width}u + tx] += dot(${laneSum(r, 0)}, vec4f(1.0));`,
  );

  const body = `
  let tile = tile_at(group / P.chunks);
  let first = tile.w * ${division.cols}u;
  ${backend.lane}

  for (var step = group % P.chunks; step < P.steps; step += P.chunks) {
    let i0 = (tile.z + step % P.steps_i) * ${rows}u;
    let h = tile.y + (step / P.steps_i) % P.steps_h;
    ${keyHeads}
    ${gradient.sequence('tile.x + step / (P.steps_i * P.steps_h)')}
    let visible = key_range(seq, i0, i0 + ${rows}u);
    let keys = ${keepJ ? `clamp(visible, vec2u(first), vec2u(first + ${division.cols}u))` : 'visible'};
    ${gradient.loadRowValues}
    ${gradient.loadStationary}
    ${gradient.loop('j0', 'keys', [], { after: added })}
  }

  workgroupBarrier();
  for (var n = lane; n < ${division.rows * division.cols}u; n += ${lanes}u) {
    let row = n / ${division.cols}u;
    let col = n % ${division.cols}u;
    var sum = 0.0;
    for (var r = 0u; r < ${keepI ? 1 : grid.ty}u; r++) {
      for (var c = 0u; c < ${keepJ ? 1 : grid.tx}u; c++) {
        sum += sums[(row + r) * ${width}u + col + c];
      }
    }
    ${
      isShared
        ? `partial_sums[P.partial_sums_base + group * ${division.rows * division.cols}u + n] = vec2f(sum, 0.0);`
        : storeElement(name, division)
    }
  }`;

  const [tilesB, tilesH, tilesI, tilesJ] = tiles;
  return kernelSpec({
    name: `attention ${name}`,
    groups: {
      ...{ batches: tilesB, heads: tilesH, tiles: tilesI, workgroups: tilesJ * chunks },
      ...{ side: keepI ? 'q' : null, rows },
    },
    workgroupSize: lanes,
    bindingBudget: config.bindingBudget,
    parts: [
      {
        uniforms: u32Uniforms({ chunks, steps: elementCount(steps), steps_h: steps[1], steps_i: steps[2] }),
      },
      ...gradient.parts,
      coordinates,
      isShared ? partialSumsPart('read_write') : elementStore(name, dtype),
    ],
    declarations: `var<workgroup> sums: array<f32, ${ownRows * grid.ty * width}>;`,
    body,
  });
}

/** Adds the partial sums of each tile's chunks, in the order of the chunks. */
function chunksKernel(
  { forward: { Sq, Skv } }: BackwardProblem,
  { name, dtype }: ScoreInput,
  division: SumDivision,
  coordinates: ShaderPart,
): KernelSpec {
  const size = division.rows * division.cols;
  const elements = elementCount(division.tiles) * size;
  const body = `
  let at = ${invocationIndex};
  if (at < P.elements) {
    let number = at / ${size}u;
    let row = (at % ${size}u) / ${division.cols}u;
    let col = at % ${division.cols}u;
    let tile = tile_at(number);
    var sum = 0.0;
    for (var chunk = 0u; chunk < P.chunks; chunk++) {
      sum += partial_sums[P.partial_sums_base + (number * P.chunks + chunk) * ${size}u + at % ${size}u].x;
    }
    ${storeElement(name, division)}
  }`;
  return kernelSpec({
    name: `attention ${name} sum`,
    ...invocations(elements),
    parts: [
      { uniforms: u32Uniforms({ elements, chunks: division.chunks, Sq, Skv }) },
      coordinates,
      partialSumsPart('read'),
      elementStore(name, dtype),
    ],
    body,
  });
}
