import { type BackwardProblem, normaliseBackward, Tensor } from '@tilewise/core';
import {
  describeTile,
  type TileDescription,
  type TileRole,
  type Tuning,
  tableTile,
  tune,
} from '@tilewise/webgpu/tune';
import { type BenchGpu, openWebGpu, toggleOption } from '../../gpu/open-webgpu.ts';
import { parseChoices } from '../../suite/parse-choices.ts';
import { type Suite, UsageError } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';
import { type CaseDType, parseShapes, type Shape4 } from '../../workloads/attention/attention-case.ts';

const dtypes = ['f32', 'f16', 'bf16'] as const;
const masks = ['full', 'causal'] as const;

/** A shape for each of the usual head sizes, by adapter. */
const shapesOf = {
  hardware: '1x16x2048x64,1x16x2048x128',
  software: '1x1x256x64,1x1x256x128',
} as const;

/** The tiles of the attention kernels by shape, from which the table of tiles is made. */
export const tuneTiles: Suite = {
  name: 'tune',
  summary:
    "tiles of forward, dQ and dK/dV, the fastest first, next to the table's: times of a plan with each",
  options: {
    shapes: {
      value: 'BxHxSxD,…',
      meaning: `shapes to tune; default ${shapesOf.hardware} on a GPU and ${shapesOf.software} on a CPU`,
    },
    dtypes: { value: dtypes.join(','), meaning: 'storage dtypes; default f32' },
    masks: { value: masks.join(','), meaning: 'masks to tune for; default both' },
    seconds: { value: 'S', meaning: 'approximate time for each case; default 20' },
    ...toggleOption,
  },
  async *run(options, progress) {
    const given = (name: string, otherwise: string): string => String(options[name] ?? otherwise);
    const seconds = Number(given('seconds', '20'));
    if (!(seconds > 0))
      throw new UsageError(`--seconds must be a time in seconds, got '${options.seconds}'.`);
    const stored = parseChoices<CaseDType>('dtypes', given('dtypes', 'f32'), dtypes);
    const seen = parseChoices('masks', given('masks', masks.join(',')), masks);
    const bench = await openWebGpu(options);
    try {
      const quick = shapesOf[bench.kind === 'hardware' ? 'hardware' : 'software'];
      for (const shape of parseShapes(given('shapes', quick))) {
        for (const dtype of stored) {
          for (const mask of seen) {
            const columns = { 'B×H×S×D': shape.join('×'), dtype, mask };
            progress(Object.values(columns).join(' '));
            const problem = problemOf(shape, dtype, mask === 'causal');
            yield* rowsOf(bench, problem, await tune(bench.ctx, problem, { seconds }), columns);
          }
        }
      }
    } finally {
      await bench.close();
    }
  },
};

function problemOf(shape: Shape4, dtype: CaseDType, causal: boolean): BackwardProblem {
  const q = Tensor.zeros(shape, { dtype });
  const lse = Tensor.zeros(shape.slice(0, 3));
  return normaliseBackward({ q, k: q, v: q, o: q, lse, dO: q }, { causal }).problem;
}

/** A row for each tile. Ratios compare the shortest times, which a busy machine disturbs least. */
function rowsOf(
  { ctx, label }: BenchGpu,
  { forward }: BackwardProblem,
  { timings, clock }: Tuning,
  columns: Row,
): Row[] {
  const isTable = (role: TileRole, tile: TileDescription): boolean =>
    JSON.stringify(tile) === JSON.stringify(tableTile(role, forward, ctx.capabilities));
  return timings.map(({ role, tile, ms, least, rounds }) => {
    const table = timings.find(other => other.role === role && isTable(role, other.tile));
    return {
      ...columns,
      ...{
        kernel: role,
        tile: `${describeTile(tile)}${isTable(role, tile) ? ', the table’s' : ''}`,
        ms,
        least,
      },
      ...{ '× table': table ? least / table.least : '', rounds, timer: clock, ...label },
    };
  });
}
