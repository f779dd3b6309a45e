import { fuzzRun } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { createRandom, hostileValue, mutate, outcomeOf } from '../../testing/mutate.ts';
import { describeValue } from '../errors.ts';
import { copyTensor } from './copy.ts';
import { Tensor } from './tensor.ts';

const { seed, count, timeout } = fuzzRun(1500);
const t = (): Tensor => Tensor.from([1, 2, 3, 4, 5, 6], [2, 3], { dtype: 'f16' });

/** A call, its arguments, and what holds for a result if the types allow the arguments. */
const calls: readonly [name: string, run: (...args: never[]) => unknown, args: () => unknown[]][] = [
  [
    'from',
    Tensor.from as never,
    () => [[1, 2, 3, 4], [2, 2], { dtype: 'bf16', strides: [2, 1], overflow: 'ieee' }],
  ],
  ['zeros', Tensor.zeros as never, () => [[2, 3], { dtype: 'i8', strides: [4, 1] }]],
  [
    'wrap',
    Tensor.wrap as never,
    () => [new Float32Array(9), { dtype: 'f32', shape: [2, 3], strides: [3, 1], offset: 2 }],
  ],
  ['get', ((...index: never[]) => t().get(...index)) as never, () => [1, 2]],
  ['set', ((value: never, ...index: never[]) => t().set(value, ...index)) as never, () => [3, 1, 2]],
  [
    'cast',
    ((dtype: never, options: never) => t().cast(dtype, options)) as never,
    () => ['f32', { overflow: 'ieee' }],
  ],
  ['permute', ((...order: never[]) => t().permute(...order)) as never, () => [1, 0]],
  ['slice', ((...range: [never, never, never]) => t().slice(...range)) as never, () => [1, 0, 2]],
  ['expand', ((shape: never) => t().expand(shape)) as never, () => [[4, 2, 3]]],
  ['reshape', ((shape: never) => t().reshape(shape)) as never, () => [[3, 2]]],
  ['copyTensor', copyTensor as never, () => [t(), t()]],
];

test(`${count} mutated calls of Tensor of seed ${seed} are refused by a typed error or give a tensor`, {
  timeout,
}, () => {
  const random = createRandom(seed, 3);
  const counts = { accepted: 0, refused: 0 };
  for (let n = 0; n < count; n++) {
    const [name, run, args] = random.pick(calls);
    const given = args();
    const nested = given.filter(value => typeof value === 'object' && !(value instanceof Tensor));
    if (nested.length > 0 && random.below(2) === 0) mutate(random.pick(nested) as object, random);
    else given[random.below(given.length)] = hostileValue(random, given);
    let result: unknown;
    let outcome: keyof typeof counts;
    try {
      outcome = outcomeOf(() => {
        result = run(...(given as never[]));
      });
    } catch (cause) {
      throw new Error(`${name}(${given.map(describeValue).join('; ')}): ${(cause as Error).message}`, {
        cause,
      });
    }
    counts[outcome]++;
    if (!(result instanceof Tensor)) continue;
    expect(result.shape.every(extent => Number.isSafeInteger(extent) && extent >= 0)).toBe(true);
    expect(result.strides.every(stride => Number.isSafeInteger(stride) && stride >= 0)).toBe(true);
    if (result.size < 1e6) expect(result.toFloat64()).toHaveLength(result.size);
  }
  expect(counts.refused).toBeGreaterThan(count / 3);
  expect(counts.accepted).toBeGreaterThan(count / 15);
});
