import { Tensor } from '@tilewise/core';
import { scoreMod } from '@tilewise/core/expr';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { prepareAttentionCall } from './attention-call.ts';

test('gradients of 16-bit tensors that are wanted in f32 are rounded only to f32', async () => {
  const engine = referenceEngine();
  const shape = [1, 1, 4, 8];
  const bf16 = (seed: number): Tensor =>
    Tensor.from(
      Array.from({ length: 32 }, (_, n) => Math.sin(seed * n + seed)),
      shape,
      { dtype: 'bf16' },
    );
  const [q, k, v, dO] = [1, 2, 3, 4].map(bf16);
  const { o, lse } = await engine.sdpa(q, k, v, { scale: 1 });
  const results = [0, 1, 2].map(() => Tensor.zeros(shape));
  const step: AttentionStep = {
    ...{ kind: 'sdpa-backward', q: 0, k: 1, v: 2, o: 3, lse: 4, dO: 5 },
    options: {
      options: { scale: { factors: [] }, fills: [], scaledAfterMask: false },
      scoreMod: { expr: scoreMod(({ score }) => score).expr, captures: {} },
    },
    results: { dq: 6, dk: 7, dv: 8 },
  };
  const tensors = [q, k, v, o, lse, dO, ...results];
  const numbers = () => new Float64Array();
  const context = { tensor: (n: number) => tensors[n], numbers, scratch: () => undefined };
  await prepareAttentionCall(engine, step).run(context, false);

  const expected = await engine.sdpaBackward({ q, k, v, o, lse, dO }, { scale: 1, gradDType: 'f32' });
  expect(results.map(t => t.toFloat32())).toEqual(
    [expected.dq, expected.dk, expected.dv].map(t => t.toFloat32()),
  );
  expect(results[0].toFloat32()).not.toEqual(results[0].cast('bf16').toFloat32());
});
