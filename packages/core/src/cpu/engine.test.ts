import { expect, test } from 'vitest';
import { normalise } from '../attention/normalise.ts';
import { InvalidShapeError } from '../errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import { cpuEngine } from './engine.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

const q = Tensor.from([1, 2, 3, 4], [1, 1, 2, 2]);
const engine = cpuEngine();

test('runs what sdpa and sdpaBackward run, on host tensors as they are', async () => {
  expect(engine.name).toBe('cpu');
  expect(engine.upload(q)).toBe(q);
  const options = { causal: true };
  const { o, lse } = await engine.sdpa(q, q, q, options);
  expect(o).toEqual(sdpa(q, q, q, options).o);
  const inputs = { q, k: q, v: q, o, lse, dO: q };
  expect(await engine.sdpaBackward(inputs, options)).toEqual(sdpaBackward(inputs, options));
  expect(await engine.download(o)).toBe(o);
});

test('supports every valid problem', () => {
  const { problem } = normalise({ q, k: q, v: q });
  expect(engine.checkSupport(problem)).toEqual({ supported: true, reasons: [] });
});

test('rejects an invalid call as an error of the argument', async () => {
  const wide = Tensor.zeros([1, 1, 2, 3]);
  await expect(engine.sdpa(q, wide, q)).rejects.toThrow(InvalidShapeError);
});
