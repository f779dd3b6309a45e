import { type BackwardProblem, contiguousStrides, type DType, elementCount } from '@tilewise/core';
import { elementStore } from '../../../codegen/formats/element-store.ts';
import { invocationIndex, invocations, type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import type { KernelConfig } from '../../config/kernel-config.ts';
import { tileSize } from '../../tiles/tile.ts';
import { keyHeads } from '../../tiles/tile-operands.ts';
import { defaultTile } from '../../tiles/tile-table.ts';
import { gradientTile } from './gradient-tile.ts';
import { partialSumsPart } from './partial-sums.ts';

/**
 * A tensor that contributes to every score. Its shape broadcasts to (B, Hq, Sq, Skv), and its gradient is the
 * sum of the scores' gradients dS times `share`, a WGSL expression for the four keys j to j + 3 of query i.
 */
interface ScoreInput {
  readonly name: 'dbias' | 'dAlibi';
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly share: (i: string) => string | null;
}

/**
 * The kernels of the requested gradients: dBias is dS summed over the dimensions along which the bias is
 * broadcast, and dAlibi[h] = Σ −|i + diagonal − j| · dS.
 */
export function scoreInputGradientKernels(problem: BackwardProblem, config: KernelConfig): KernelSpec[] {
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
            share: (i: string) => `-vec4f(abs(vec4i(i32(${i}) + seq.diagonal - i32(j)) - vec4i(0, 1, 2, 3)))`,
          } as const,
        ]
      : []),
  ];
}

/** How the sum of one result is divided among workgroups. */
interface Division {
  /**
   * For each of (B, Hq, Sq, Skv), whether the result keeps the dimension. A dimension in which the result has
   * one element is summed over.
   */
  readonly kept: readonly boolean[];
  /** The number of tiles of the result along each dimension. */
  readonly parts: readonly [B: number, H: number, I: number, J: number];
  /** The number of sequences, heads and tiles of queries that are summed into one tile of the result. */
  readonly steps: readonly [B: number, H: number, I: number];
  /** The size of a tile of the result, in elements. */
  readonly rows: number;
  readonly cols: number;
  /**
   * The number of workgroups that share the steps of a tile. If there is more than one, a second kernel adds
   * their partial sums.
   */
  readonly chunks: number;
}

/**
 * The number of workgroups that keeps a large GPU busy, and the smallest number of steps that one of them
 * should have.
 */
const manyGroups = 256;
const stepsPerGroup = 4;
/** The maximum memory for partial sums, in vectors of 8 bytes. */
const maxVectors = 2 ** 22;

function divisionOf({ forward: { B, Hq, Sq, Skv } }: BackwardProblem, { shape }: ScoreInput): Division {
  const lead = 4 - shape.length;
  const kept = [0, 1, 2, 3].map(d => (shape[d - lead] ?? 1) > 1);
  const [keepB, keepH, keepI, keepJ] = kept;
  const tile = tileSize(defaultTile.grid);
  const [tilesI, tilesJ] = [Math.ceil(Sq / tile.rows), Math.ceil(Skv / tile.cols)];
  const parts = [keepB ? B : 1, keepH ? Hq : 1, keepI ? tilesI : 1, keepJ ? tilesJ : 1] as const;
  const steps = [keepB ? 1 : B, keepH ? 1 : Hq, keepI ? 1 : tilesI] as const;
  const rows = keepI ? tile.rows : 1;
  const cols = keepJ ? tile.cols : 1;
  const groups = elementCount(parts);
  const room = maxVectors / (groups * rows * cols);
  const chunks = Math.floor(Math.min(elementCount(steps) / stepsPerGroup, manyGroups / groups, room)) || 1;
  return { kept, parts, steps, rows, cols, chunks };
}

/** The largest number of vectors that the sums of a problem use in `workspace.sums` at a time. */
export function scoreInputVectors(problem: BackwardProblem): number {
  const vectors = inputsOf(problem).map(input => {
    const { parts, rows, cols, chunks } = divisionOf(problem, input);
    return chunks > 1 ? elementCount(parts) * chunks * rows * cols : 0;
  });
  return Math.max(0, ...vectors);
}

/** Converts the number of a tile of the result, `part`, to the tile's coordinates. */
function placePart(name: string, { kept, parts }: Division, shape: readonly number[]): ShaderPart {
  const own = contiguousStrides(shape);
  const lead = 4 - shape.length;
  const [sb, sh, si, sj] = kept.map((isKept, d) => (isKept ? (own[d - lead] ?? 0) : 0));
  const [, parts_h, parts_i, parts_j] = parts;
  return {
    uniforms: u32Uniforms({ parts_h, parts_i, parts_j, sb, sh, si, sj }, `${name}_`),
    code: `// Batch entry, head, and tile of queries and of keys; those that are summed over count as one.
fn part_at(part: u32) -> vec4u {
  let b = part / (P.${name}_parts_j * P.${name}_parts_i * P.${name}_parts_h);
  let h = (part / (P.${name}_parts_j * P.${name}_parts_i)) % P.${name}_parts_h;
  return vec4u(b, h, (part / P.${name}_parts_j) % P.${name}_parts_i, part % P.${name}_parts_j);
}`,
  };
}

/**
 * Statements that store the element in row `row` and column `col` of the tile at `place`, if the element
 * exists.
 */
function storeElement(name: string, { kept, rows, cols }: Division, sum: string): string {
  const [, , keepI, keepJ] = kept;
  return `let i = place.z * ${rows}u + row;
    let j = place.w * ${cols}u + col;
    if (${keepI ? 'i < P.Sq' : 'true'} && ${keepJ ? 'j < P.Skv' : 'true'}) {
      ${name}_store(place.x * P.${name}_sb + place.y * P.${name}_sh + i * P.${name}_si + j * P.${name}_sj, ${sum});
    }`;
}

/**
 * A workgroup loops, in a fixed order, over its share of the terms of one tile of the result, and recomputes
 * dS along the way: nothing of size Sq × Skv is stored, unless the result itself has this size. If there are
 * few tiles, several workgroups share one, and a second kernel adds their sums.
 */
function scoreInputKernels(problem: BackwardProblem, config: KernelConfig, input: ScoreInput): KernelSpec[] {
  const { name, dtype, shape, share } = input;
  const tile = defaultTile;
  const division = divisionOf(problem, input);
  const { parts, steps, chunks } = division;
  const [, , keepI, keepJ] = division.kept;
  const { rows, cols, lanes } = tileSize(tile.grid);
  const isShared = chunks > 1;
  const gradient = gradientTile(
    problem,
    { ...config, tile },
    { weight: false, ds: true, df: true, writesWorkspace: isShared },
  );
  const place = placePart(name, division, shape);
  const stored = isShared
    ? `partial_sums[P.partial_sums_base + group * ${division.rows * division.cols}u + n] = vec2f(sum, 0.0);`
    : storeElement(name, division, 'sum');

  const body = `
  let place = part_at(group / P.chunks);
  let keys = ${keepJ ? `vec2u(place.w * ${cols}u, min(P.Skv, (place.w + 1u) * ${cols}u))` : 'vec2u(0u, P.Skv)'};
  let tx = lane % ${tile.grid.tx}u;
  let ty = lane / ${tile.grid.tx}u;
  ${repeat(4, r => `var acc${r} = vec4f();`)}

  for (var step = group % P.chunks; step < P.steps; step += P.chunks) {
    let i0 = (place.z + step % P.steps_i) * ${rows}u;
    let h = place.y + (step / P.steps_i) % P.steps_h;
    ${keyHeads}
    ${gradient.sequence('place.x + step / (P.steps_i * P.steps_h)')}
    let visible = key_range(seq, i0, i0 + ${rows}u);
    let first = max(keys.x, visible.x / ${cols}u * ${cols}u);
    let last = min(keys.y, visible.y);
    ${gradient.loadRowValues}
    for (var j0 = first; j0 < last; j0 += ${cols}u) {
    ${gradient.skip}
    ${gradient.compute()}
    ${repeat(4, r => {
      const factor = share(`(i + ${r}u)`);
      return `acc${r} += ${gradient.vectors.of('df', r)}${factor ? ` * (${factor})` : ''};`;
    })}
    }
  }

  ${repeat(4, r => repeat(4, c => `sums[(ty * 4u + ${r}u) * ${cols}u + tx * 4u + ${c}u] = acc${r}[${c}];`))}
  workgroupBarrier();
  for (var n = lane; n < ${division.rows * division.cols}u; n += ${lanes}u) {
    let row = n / ${division.cols}u;
    let col = n % ${division.cols}u;
    var sum = 0.0;
    for (var r = 0u; r < ${rows / division.rows}u; r++) {
      for (var c = 0u; c < ${cols / division.cols}u; c++) {
        sum += sums[(row + r) * ${cols}u + col + c];
      }
    }
    ${stored}
  }`;

  const [partsB, partsH, partsI, partsJ] = parts;
  const isEmpty = shape.includes(0) || elementCount(parts) === 0;
  const sumKernel = kernelSpec({
    name: `attention ${name}`,
    groups: {
      ...{ batches: isEmpty ? 0 : partsB, heads: partsH, tiles: partsI, workgroups: partsJ * chunks },
      ...{ side: keepI ? 'q' : null, rows },
    },
    workgroupSize: lanes,
    bindingBudget: config.bindingBudget,
    parts: [
      {
        uniforms: u32Uniforms({ chunks, steps: elementCount(steps), steps_h: steps[1], steps_i: steps[2] }),
      },
      ...gradient.parts,
      place,
      isShared ? partialSumsPart('read_write') : elementStore(name, dtype),
    ],
    declarations: `var<workgroup> sums: array<f32, ${rows * cols}>;`,
    body,
  });
  return isShared && !isEmpty ? [sumKernel, chunksKernel(problem, input, division, place)] : [sumKernel];
}

/** Adds the partial sums of each tile's chunks, in the order of the chunks. */
function chunksKernel(
  { forward: { Sq, Skv } }: BackwardProblem,
  { name, dtype }: ScoreInput,
  division: Division,
  place: ShaderPart,
): KernelSpec {
  const size = division.rows * division.cols;
  const elements = elementCount(division.parts) * size;
  const body = `
  let at = ${invocationIndex};
  if (at < P.elements) {
    let part = at / ${size}u;
    let row = (at % ${size}u) / ${division.cols}u;
    let col = at % ${division.cols}u;
    let place = part_at(part);
    var sum = 0.0;
    for (var chunk = 0u; chunk < P.chunks; chunk++) {
      sum += partial_sums[P.partial_sums_base + (part * P.chunks + chunk) * ${size}u + at % ${size}u].x;
    }
    ${storeElement(name, division, 'sum')}
  }`;
  return kernelSpec({
    name: `attention ${name} sum`,
    ...invocations(elements),
    parts: [
      { uniforms: u32Uniforms({ elements, chunks: division.chunks, Sq, Skv }) },
      place,
      partialSumsPart('read'),
      elementStore(name, dtype),
    ],
    body,
  });
}
