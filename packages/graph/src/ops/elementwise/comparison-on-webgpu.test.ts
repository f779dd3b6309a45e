import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { sharedGpu } from '../../../testing/compare/webgpu-engine.ts';
import { compile, notEqual, typeCast } from '../../frontends/functions/index.ts';

test('NaN differs from every number and from itself, on the CPU and on WebGPU', async () => {
  const x = Tensor.from([Number.NaN, 1, 0, Number.NaN, -2], [5]);
  const y = Tensor.from([Number.NaN, 1, 2, 3, Number.NaN], [5]);
  const { engine } = await sharedGpu();
  for (const own of [cpuEngine(), engine]) {
    const differs = compile(own as typeof engine, ({ x, y }) => notEqual(x, y), { x, y });
    const z = await differs({ x, y });
    expect([...(z instanceof Tensor ? z : await engine.download(z)).toFloat32()]).toEqual([1, 0, 1, 1, 1]);
    differs.release();
  }
});

// A row of five elements is cast one by one, and one of eight four at a time.
test.each([5, 8])('NaN is true as a bool, like each number but 0: %i elements', async count => {
  const x = Tensor.from([Number.NaN, 1, 0, -0, Infinity, 0, Number.NaN, 0.5].slice(0, count), [count]);
  const { engine } = await sharedGpu();
  for (const own of [cpuEngine(), engine]) {
    const cast = compile(own as typeof engine, ({ x }) => typeCast(x, { dtype: 'bool' }), { x });
    const z = await cast({ x });
    const truths = z instanceof Tensor ? z : await engine.download(z);
    expect([...truths.toFloat32()]).toEqual([1, 1, 0, 0, 1, 0, 1, 1].slice(0, count));
    cast.release();
  }
});
