import { type BackwardProblem, contiguousStrides, type DType } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../kernel/kernel-spec.ts';
import { elementStore } from './element-store.ts';
import { gradientTile } from './gradient-tile.ts';
import { repeat, tileCols, tileDeclarations, tileLanes, tileRows } from './tile.ts';
import type { TileConfig } from './tile-table.ts';

/**
 * A tensor that every score has a share in: its shape broadcasts to (B, Hq, Sq, Skv), and a score's gradient dS reaches it
 * times `share`, a WGSL expression for the four keys j to j + 3 of query i.
 */
interface ScoreInput {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly share: (i: string) => string | null;
}

/** dBias: dS summed over the dimensions along which the bias is broadcast. */
export function dbiasKernel(problem: BackwardProblem, config: TileConfig): KernelSpec | null {
  const { bias } = problem.forward;
  if (!bias) return null;
  return scoreInputKernel(problem, config, {
    name: 'dbias',
    dtype: bias.dtype,
    shape: bias.source,
    share: () => null,
  });
}

/** dAlibi[h]: Σ −|i + diagonal − j| · dS. */
export function dAlibiKernel(problem: BackwardProblem, config: TileConfig): KernelSpec {
  return scoreInputKernel(problem, config, {
    name: 'dAlibi',
    dtype: 'f32',
    shape: [problem.forward.Hq, 1, 1],
    share: i => `-vec4f(abs(vec4i(i32(${i}) + seq.diagonal - i32(j)) - vec4i(0, 1, 2, 3)))`,
  });
}

/**
 * One workgroup per tile of the result walks over everything that is summed into it, in a fixed order, and recomputes dS as
 * it goes: nothing of size Sq × Skv is stored, unless the result itself is.
 */
function scoreInputKernel(
  problem: BackwardProblem,
  config: TileConfig,
  { name, dtype, shape, share }: ScoreInput,
): KernelSpec {
  const { B, Hq, Sq, Skv } = problem.forward;
  const { tile } = config;
  const rows = tileRows(tile);
  const cols = tileCols(tile);
  const gradient = gradientTile(problem, config, { weight: false, ds: true });
  const whole = [B, Hq, Sq, Skv];
  const lead = whole.length - shape.length;
  // A dimension of which the result has one element is summed over, if it is one in the problem too or not.
  const kept = whole.map((_, d) => (shape[d - lead] ?? 1) > 1);
  const own = contiguousStrides(shape);
  const strides = whole.map((_, d) => (kept[d] ? (own[d - lead] ?? 0) : 0));
  const [keepB, keepH, keepI, keepJ] = kept;
  const parts = [
    keepB ? B : 1,
    keepH ? Hq : 1,
    keepI ? Math.ceil(Sq / rows) : 1,
    keepJ ? Math.ceil(Skv / cols) : 1,
  ];
  const [partsB = 1, partsH = 1, partsI = 1, partsJ = 1] = parts;
  const field = (suffix: string, value: number): { name: string; type: 'u32'; value: number } => ({
    name: `${name}_${suffix}`,
    type: 'u32',
    value,
  });
  const range = (keep: boolean | undefined, part: string, size: string, step = 1): string =>
    keep ? `vec2u(${part} * ${step}u, min(${size}, (${part} + 1u) * ${step}u))` : `vec2u(0u, ${size})`;
  const rowsOut = keepI ? rows : 1;
  const colsOut = keepJ ? cols : 1;

  const body = `
  let part_j = group % P.${name}_parts_j;
  let part_i = (group / P.${name}_parts_j) % P.${name}_parts_i;
  let part_h = (group / (P.${name}_parts_j * P.${name}_parts_i)) % P.${name}_parts_h;
  let part_b = group / (P.${name}_parts_j * P.${name}_parts_i * P.${name}_parts_h);
  let batches = ${range(keepB, 'part_b', 'P.B')};
  let heads = ${range(keepH, 'part_h', 'P.Hq')};
  let queries = ${range(keepI, 'part_i', 'P.Sq', rows)};
  let keys = ${range(keepJ, 'part_j', 'P.Skv', cols)};
  let tx = lane % ${tile.tx}u;
  let ty = lane / ${tile.tx}u;
  ${repeat(4, r => `var acc${r} = vec4f();`, '\n  ')}

  for (var b = batches.x; b < batches.y; b++) {
  let seq = sequence_at(b);
  for (var h = heads.x; h < heads.y; h++) {
  for (var i0 = queries.x; i0 < queries.y; i0 += ${rows}u) {
    let visible = key_range(seq, i0, i0 + ${rows}u);
    let first = max(keys.x, visible.x / ${cols}u * ${cols}u);
    let last = min(keys.y, visible.y);
    ${gradient.loadRowValues}
    for (var j0 = first; j0 < last; j0 += ${cols}u) {
    ${gradient.skip}
    ${gradient.compute}
    ${repeat(
      4,
      r => {
        const factor = share(`(i + ${r}u)`);
        return `acc${r} += df${r}${factor ? ` * (${factor})` : ''};`;
      },
      '\n    ',
    )}
    }
  }
  }
  }

  ${repeat(4, r => repeat(4, c => `sums[(ty * 4u + ${r}u) * ${cols}u + tx * 4u + ${c}u] = acc${r}[${c}];`, '\n  '), '\n  ')}
  workgroupBarrier();
  for (var n = lane; n < ${rowsOut * colsOut}u; n += ${tileLanes(tile)}u) {
    let row = n / ${colsOut}u;
    let col = n % ${colsOut}u;
    var sum = 0.0;
    for (var r = 0u; r < ${rows / rowsOut}u; r++) {
      for (var c = 0u; c < ${cols / colsOut}u; c++) {
        sum += sums[(row + r) * ${cols}u + col + c];
      }
    }
    if (${keepI ? 'queries.x + row < P.Sq' : 'true'} && ${keepJ ? 'keys.x + col < P.Skv' : 'true'}) {
      ${name}_store(
        part_b * P.${name}_sb + part_h * P.${name}_sh + (queries.x + row) * P.${name}_si + (keys.x + col) * P.${name}_sj,
        sum,
      );
    }
  }`;

  return kernelSpec({
    name: `attention ${name}`,
    groups: {
      ...{ batches: shape.includes(0) ? 0 : partsB, heads: partsH, tiles: partsI, each: partsJ },
      ...{ side: keepI ? 'q' : null, rows, reversed: false },
    },
    workgroupSize: tileLanes(tile),
    parts: [
      {
        uniforms: [
          { name: 'B', type: 'u32', value: B },
          field('parts_h', partsH),
          field('parts_i', partsI),
          field('parts_j', partsJ),
          ...['sb', 'sh', 'si', 'sj'].map((suffix, d) => field(suffix, strides[d] ?? 0)),
        ],
      },
      ...gradient.parts,
      elementStore(name, dtype),
    ],
    declarations: `${tileDeclarations(tile)}\nvar<workgroup> sums: array<f32, ${rows * cols}>;`,
    body,
    room: config.room,
  });
}
