import { processorTime } from '@tilewise/test-data';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { describe, expect, test } from 'vitest';
import { type Mutation, mutations } from '../../../testing/mutations.ts';
import { TilewiseError } from '../../errors.ts';
import { add, ge, load, mul, select } from '../../expr/build.ts';
import { maskMod, scoreMod } from '../../expr/mods/mod.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { normalise, normaliseBackward } from '../call/normalise.ts';
import { cost } from '../cost.ts';
import { validateBackward } from './backward-rules.ts';
import { checkProblem } from './check-problem.ts';
import { validate } from './forward-rules.ts';

const zeros = (...shape: number[]): Tensor => Tensor.zeros(shape);
const [q, k] = [zeros(2, 4, 5, 8), zeros(2, 2, 6, 8)];
const pages = zeros(4, 2, 4, 8);
const table = Tensor.from([0, 1, 2, 3], [2, 2], { dtype: 'i32' });
const packed = zeros(7, 4, 8);
const f8 = Tensor.zeros([1, 2, 3, 4], { dtype: 'f8e4m3' });
const slopes = zeros(4);

const forward = {
  everything: normalise(
    { q, k, v: k },
    {
      ...{
        bias: zeros(4, 1, 6),
        mask: Tensor.zeros([6], { dtype: 'bool' }),
        alibi: true,
        sink: [0, 0, 0, 0],
      },
      ...{ blockMask: Tensor.zeros([1, 1], { dtype: 'u8' }), window: { left: 2, right: 1 }, softcap: 3 },
      ...{ seqLensQ: [5, 1], cuSeqLensKv: [0, 3, 6], dropout: { p: 0.5, seed: 3 }, outputs: { max: true } },
      scoreMod: scoreMod(({ score, h }) => add(score, mul(2, load('slopes', [h]))), { slopes }),
      maskMod: maskMod(({ q: i, kv }) => select(ge(i, kv), true, ge(kv, 3))),
    },
  ).problem,
  paged: normalise({ q, k: pages, v: pages }, { seqLensKv: [4, 8], pageTableK: table, pageTableV: table })
    .problem,
  packed: normalise(
    { q: packed, k: packed, v: packed },
    {
      ...{
        cuSeqLensQ: [0, 3, 7],
        seqLensKv: [2, 2],
        dropout: { mask: Tensor.zeros([4, 2], { dtype: 'bool' }), p: 0.5 },
      },
      raggedOffsets: { k: [0, 64, 224], v: [0, 64, 224] },
    },
  ).problem,
  fp8: normalise({ q: f8, k: f8, v: f8 }, { fp8: { formatP: { dtype: 'u8', zeroPoint: 3 } } }).problem,
};
const backward = normaliseBackward(
  { q, k, v: k, o: q, lse: zeros(2, 4, 5), dO: q, dLse: zeros(2, 4, 5) },
  { causal: 'bottom-right', sink: [0, 0, 0, 0], bias: zeros(5, 6) },
).problem;

/** Fields that may have any number; all other numbers are counts. */
const anyNumber = new Set(['scale', 'softcap', 'p', 'value', 'zeroPoint']);

/** Fields that may be absent from a problem. */
const mayBeLeftOut = new Set([
  'softcap',
  'forward.softcap',
  'band.left',
  'band.right',
  'fp8.formatP',
  'formatP.zeroPoint',
]);

/** Whether the type of the field forbids the value, whatever the rest of the problem is. */
function isForbidden({ path, was, now }: Mutation): boolean {
  const field = String(path.at(-1));
  // A node of an expression may have additional fields, which no engine reads.
  if (field === 'unheardOf') return !path[0].endsWith('Mod');
  if (mayBeLeftOut.has(path.slice(-2).join('.')) && (now === null || now === undefined)) return false;
  if (was === null || now === null) return was !== now && typeof was !== 'object';
  // A broadcast tensor may have an additional axis of size 1.
  if (was === undefined) return path.at(-2) !== 'source' || now !== 1;
  if (typeof was !== typeof now || Array.isArray(was) !== Array.isArray(now)) return true;
  if (typeof was === 'number')
    return Number.isNaN(now) || (!anyNumber.has(field) && !(Number.isInteger(now) && Number(now) >= 0));
  // A problem has no free text.
  return typeof was === 'string' && field !== 'name' ? was !== now : false;
}

function outcome(run: () => void): unknown {
  const start = processorTime();
  let error: unknown = null;
  try {
    run();
  } catch (thrown) {
    error = thrown;
  }
  expect(processorTime() - start).toBeLessThan(2000);
  return error;
}

const { seed, count, timeout } = fuzzRun(250, 17);

describe(`of stored problems with something wrong of seed ${seed} in them`, { timeout }, () => {
  test.each(Object.entries(forward))(
    'no mutation of %s is accepted, and none makes the check fail',
    (_, problem) => {
      expect(outcome(() => validate(problem))).toBeNull();
      for (const mutation of mutations(problem, count, seed)) {
        const error = outcome(() => validate(mutation.value as never));
        if (error !== null || isForbidden(mutation))
          expect(error, mutation.change).toBeInstanceOf(TilewiseError);
        const shallow = outcome(() => checkProblem(mutation.value));
        if (shallow !== null) expect(shallow, mutation.change).toBeInstanceOf(TilewiseError);
        else
          expect(
            outcome(() => cost(mutation.value as never)),
            mutation.change,
          ).toSatisfy(isTyped);
      }
    },
  );

  test('no mutation of a backward problem is accepted, and none makes the check fail', () => {
    expect(outcome(() => validateBackward(backward))).toBeNull();
    for (const mutation of mutations(backward, count, seed + 1)) {
      const error = outcome(() => validateBackward(mutation.value as never));
      if (error !== null || isForbidden(mutation))
        expect(error, mutation.change).toBeInstanceOf(TilewiseError);
    }
  });
});

const isTyped = (error: unknown): boolean => error === null || error instanceof TilewiseError;
