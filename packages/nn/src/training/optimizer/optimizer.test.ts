import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { compile, multiply } from '@tilewise/graph/ops';
import { expect, test } from 'vitest';
import { bucketsOf } from './buckets.ts';
import { createOptimizer } from './optimizer.ts';
import { updateRule } from './update-rule.ts';

const SIZE = 128;
const numbers = (seed: number): Tensor =>
  Tensor.from(
    Array.from({ length: SIZE }, (_, n) => Math.sin(seed + n * n)),
    [SIZE],
  );

function optimizerOf(engine: TensorEngine<Tensor>, options: Parameters<typeof updateRule>[0], dtype = 'f32') {
  const values = new Map([['weight', numbers(1).cast(dtype as 'f32')]]);
  const buckets = bucketsOf(values, () => ({ rate: 1, weightDecay: 0.01 }));
  return createOptimizer(engine, updateRule(options), { values, buckets, release: () => {} });
}

const numbersOf = (step: number) => ({ step, learningRate: 0.1, gradientScale: 0.5 });

test.each([
  ['AdamW', {}, 'f32', 2],
  ['AdamW', {}, 'f16', 3],
  ['SGD', { kind: 'sgd' }, 'f32', 0],
  ['SGD with momentum', { kind: 'sgd', momentum: 0.9 }, 'f32', 1],
] as const)(
  '%s with %j and parameters of %s holds %i more tensors of f32',
  async (_, options, dtype, count) => {
    const optimizer = optimizerOf(cpuEngine(), options, dtype);
    for (let step = 1; step <= 3; step++) await optimizer.step([numbers(step)], numbersOf(step));
    const scalars = optimizer.bytes - count * 4 * SIZE;
    expect(scalars).toBeGreaterThanOrEqual(0);
    expect(scalars).toBeLessThan(16);
  },
);

test('steps that write in place give the bits of steps that write elsewhere', async () => {
  const engine = cpuEngine();
  const optimizer = optimizerOf(engine, {});
  const rule = updateRule({});
  let expected: Readonly<Record<string, Tensor>> = {
    value: numbers(1),
    ...{ 'adamw.first': Tensor.zeros([SIZE]), 'adamw.second': Tensor.zeros([SIZE]) },
  };
  for (let step = 1; step <= 3; step++) {
    const gradient = numbers(step);
    await optimizer.step([gradient], numbersOf(step));
    const given = { ...rule.numbers(step, 0.1, 0.01), scale: 0.5 };
    const bound = { ...expected, gradient, ...given };
    const specs = Object.fromEntries(
      Object.entries(bound).map(([name, t]) => [name, typeof t === 'number' ? [] : t.shape]),
    );
    const move = compile(engine, all => rule.update(all, multiply(all.gradient, all.scale), all), specs);
    expected = (await move(bound)) as Readonly<Record<string, Tensor>>;
  }
  const state = await optimizer.state();
  expect(state.get('weight')?.toFloat32()).toEqual(expected.value.toFloat32());
  for (const name of rule.state)
    expect(state.get(`${name}.weight`)?.toFloat32()).toEqual(expected[name].toFloat32());
});

test('after a step that fails midway, the step and later calls report inconsistent parameters', async () => {
  const engine = cpuEngine();
  let left = Number.POSITIVE_INFINITY;
  const prepare: typeof engine.primitives.prepare = (...primitive) => {
    const prepared = engine.primitives.prepare(...primitive);
    return {
      ...prepared,
      bind: () => null,
      run(...tensors) {
        if (left-- === 0) throw new RangeError('memory');
        prepared.run(...tensors);
      },
    };
  };
  const optimizer = optimizerOf({ ...engine, primitives: { ...engine.primitives, prepare } }, {});
  await optimizer.step([numbers(1)], numbersOf(1));
  left = 2;
  const rule = 'may have updated some parameters: continue from a checkpoint';
  await expect(optimizer.step([numbers(2)], numbersOf(2))).rejects.toThrow(rule);
  await expect(optimizer.step([numbers(2)], numbersOf(2))).rejects.toThrow(rule);
  await expect(optimizer.state()).rejects.toThrow(rule);
});
