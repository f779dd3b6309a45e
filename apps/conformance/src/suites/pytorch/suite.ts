import type { BlockMaskCase } from '@tilewise/test-data';
import type { ConformanceCase } from '../../cases/case.ts';
import { skippedBySize, workOptions } from '../../cases/work-range.ts';
import { engineNames } from '../../engines/engines.ts';
import type { Suite } from '../../suite.ts';
import { type OpenEngine, openEngine } from '../attention/attention-engine.ts';
import { runBlockMask } from './block-masks.ts';
import { type Group, readPytorchFile } from './case-file.ts';
import { gridOf, shuffled } from './grid.ts';
import type { GroupRunner } from './groups/group.ts';
import { groupRunners } from './groups/index.ts';
import type { Point } from './point.ts';
import { isImplied, type ReadValues, readValues } from './read-values.ts';
import { runPoint } from './run/run-point.ts';
import type { Sizes } from './sizes.ts';

/** The seed for drawing points from a grid, and for their data. */
const seed = 2026;

interface Limits {
  readonly sizes: Sizes;
  readonly points: number;
  /** The options of the command line, including `workOptions`. */
  readonly options: Readonly<Record<string, string>>;
}

/**
 * The grids of PyTorch's, FlexAttention's and FlashAttention's tests, judged by these tests' own tolerances.
 */
export const pytorch: Suite = {
  name: 'pytorch',
  summary: `points of PyTorch's test grids (seed ${seed}); the error is in units of what a point's rule allows`,
  options: {
    cases: { value: 'FILE', meaning: 'groups of cases, or block masks', required: true },
    engine: { value: 'NAME', meaning: 'the engine to test', choices: engineNames },
    sizes: {
      value: 'SIZES',
      meaning: 'reduced to quick ones, or as in the grids',
      choices: ['small', 'full'],
    },
    points: { value: 'N', meaning: 'how many points of a grid to draw, 8 if not given', number: 'count' },
    ...workOptions,
  },
  sideBySide: true,
  async open(options) {
    const { cases: file = '', engine = '', sizes, points } = options;
    const content = readPytorchFile(file);
    const opened = await openEngine(engine);
    const limits: Limits = {
      sizes: sizes === 'full' ? 'full' : 'small',
      points: points === undefined ? 8 : Number(points),
      options,
    };
    const found =
      content.kind === 'groups'
        ? content.groups.flatMap(group => casesOf(group, opened, limits))
        : content.cases.map((raw, index) => blockMaskCase(raw, index, opened));
    return { cases: found, close: opened.close };
  },
};

function blockMaskCase(raw: unknown, index: number, { run }: OpenEngine): ConformanceCase {
  if (!isBlockMaskCase(raw))
    return failing(`#${index}`, 'it is not a block-mask case: some of its fields are missing');
  const { mask, B, H, qLen, kvLen, blockSize } = raw;
  const batch = typeof B === 'number' ? `${B}x${H ?? 1}x` : '';
  return {
    name: `${mask}/${batch}${qLen}x${kvLen}/${blockSize.join('x')}`,
    run: () => run(engine => runBlockMask(engine, raw)),
  };
}

function isBlockMaskCase(raw: unknown): raw is BlockMaskCase {
  const c = Object(raw);
  const sides = ['kv', 'fullKv', 'q', 'fullQ'];
  const lists = ['blockSize', ...sides.flatMap(side => [`${side}NumBlocks`, `${side}Indices`])];
  const numbers = ['qLen', 'kvLen', 'sparsityPct'];
  return (
    typeof c.mask === 'string' &&
    numbers.every(name => Number.isFinite(c[name])) &&
    lists.every(name => Array.isArray(c[name]))
  );
}

const failing = (name: string, reason: string): ConformanceCase => ({
  name,
  run: async () => ({ status: 'fail', error: null, reason }),
});

/** The points drawn from a group's grid, and one line for the points that are not drawn. */
function casesOf(group: Group, engine: OpenEngine, limits: Limits): ConformanceCase[] {
  const runner: GroupRunner | undefined = groupRunners[group.id];
  if (!runner) return [failing(group.id, 'no group of this name is known to the runner')];
  if (group.notUnderstood !== undefined) return [failing(group.id, group.notUnderstood)];
  if ('unsupported' in runner) {
    const reason = runner.unsupported;
    return [{ name: group.id, run: async () => ({ status: 'unsupported', error: null, reason }) }];
  }
  const grid = gridOf({ ...group.grid, ...runner.axes });
  const cases: ConformanceCase[] = [];
  let leftOut = 0;
  for (const index of shuffled(grid.size, seed)) {
    if (cases.length >= limits.points) break;
    const values = readValues(grid.at(index));
    const name = `${group.id}/${index}`;
    try {
      const point = runner.make(values.watched, limits.sizes);
      if (!point) {
        leftOut++;
        continue;
      }
      cases.push(pointCase(name, values, point, group, engine, limits));
    } catch (error) {
      cases.push(failing(name, error instanceof Error ? error.message : String(error)));
    }
  }
  if (cases.length === 0) {
    const reason = `none of its ${leftOut} points can run: the tests omit them, or they are stored in f64`;
    cases.push({ name: group.id, run: async () => ({ status: 'unsupported', error: null, reason }) });
  }
  const others = grid.size - cases.length - leftOut;
  if (others > 0) {
    const skip = `${others} of ${grid.size} points are not drawn (--points ${limits.points})`;
    cases.push({
      name: `${group.id}/others`,
      skip,
      run: async () => ({ status: 'pass', error: null, reason: null }),
    });
  }
  return cases;
}

function pointCase(
  name: string,
  values: ReadValues,
  point: Point,
  { id, tol }: Group,
  { run }: OpenEngine,
  { options }: Limits,
): ConformanceCase {
  const { B, Hq, Sq, Skv, D, Dv } = point.dims;
  const work = (2 * B * Hq * Sq * Skv * (D + Dv + (point.backward ? 3 * D + 2 * Dv : 0))) / 1e9;
  return {
    name,
    ...skippedBySize(work, options),
    run: async () => {
      const outcome = await run(engine => runPoint(engine, point, tol, seed));
      const where = `${id} at ${JSON.stringify(values.stated)}`;
      const unread = values.unread().filter(axis => !isImplied(id, axis, values.stated[axis]));
      if (outcome.status !== 'pass' || unread.length === 0)
        return { ...outcome, reason: `${outcome.reason} (${where})` };
      return { status: 'fail', error: null, reason: `the axis ${unread.join(', ')} is not known (${where})` };
    },
  };
}
