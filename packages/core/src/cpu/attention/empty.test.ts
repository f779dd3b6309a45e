import { processorTime } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '../../reference/sdpa.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { cpuEngine } from '../engine.ts';
import { sdpa, sdpaBackward } from '../sdpa.ts';

/** (B, 1, S, D) zeros without storage for the batch. */
const expanded = (B: number, S: number, D = 8): Tensor => Tensor.zeros([1, 1, S, D]).expand([B, 1, S, D]);

test.each([
  ['cpu', sdpa, sdpaBackward],
  ['reference', exactSdpa, exactSdpaBackward],
])(
  '%s: a batch of empty sequences takes neither time nor memory, however large it is',
  (_, forward, backward) => {
    for (const B of [3, 2 ** 24]) {
      const [q, k] = [expanded(B, 0), expanded(B, 0)];
      const start = processorTime();
      const { o, lse } = forward(q, k, k, { causal: true, outputs: { max: true, sumExp: true } });
      expect([o.shape, lse.shape]).toEqual([
        [B, 1, 0, 8],
        [B, 1, 0],
      ]);
      const { dq, dk, dv } = backward({ q, k, v: k, o, lse, dO: o });
      expect([dq.size, dk.size, dv.size]).toEqual([0, 0, 0]);
      expect(processorTime() - start).toBeLessThan(1000);
    }
  },
);

test('no queries leave zero gradients of k and v', () => {
  const [q, k] = [expanded(2, 0), expanded(2, 3)];
  for (const [forward, backward] of [
    [sdpa, sdpaBackward],
    [exactSdpa, exactSdpaBackward],
  ] as const) {
    const { o, lse } = forward(q, k, k);
    expect(backward({ q, k, v: k, o, lse, dO: o }).dk.toFloat32()).toEqual(new Float32Array(48));
  }
});

test('an engine with threads computes them, too', async () => {
  const q = expanded(2 ** 24, 0);
  expect((await cpuEngine({ threads: 2 }).sdpa(q, q, q)).o.size).toBe(0);
});

test.each([
  ['cpu', sdpa, sdpaBackward],
  ['reference', exactSdpa, exactSdpaBackward],
])('%s: results without the memory for them are OUT_OF_MEMORY', (_, forward, backward) => {
  const outOfMemory = expect.objectContaining({ code: 'OUT_OF_MEMORY' });
  const long = (S: number): Tensor => Tensor.zeros([1, 1, 1, 8]).expand([1, 1, S, 8]);
  const [rows, keys, S] = [long(1), long(0), 2 ** 31 - 1];
  expect(() => forward(long(S), keys, keys)).toThrow(outOfMemory);
  const inputs = { q: rows, o: rows, dO: rows, lse: Tensor.zeros([1, 1, 1]) };
  const all = { ...inputs, k: long(S), v: long(S) };
  expect(() => backward(all, { gradients: ['dq', 'dk', 'dv'], seqLensKv: [0] })).toThrow(outOfMemory);
  const bias = Tensor.zeros([1]).expand([S]);
  expect(() => backward(all, { bias, gradients: ['dbias'], seqLensKv: [0] })).toThrow(outOfMemory);
});
