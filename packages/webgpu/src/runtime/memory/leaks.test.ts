import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InvalidArgumentError, Tensor } from '@tilewise/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { caught, expectError } from '../../../testing/expect-error.ts';
import { createContext } from '../../index.ts';

let device: GPUDevice;
beforeAll(async () => {
  ({ device } = await sharedContext());
});

/** Collects garbage, and lets finalizers run. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose_gc');
  const gc: () => void = runInNewContext('gc');
  for (let n = 0; n < 10; n++) {
    gc();
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

describe('a tensor that nobody destroys', () => {
  test('keeps its memory, and onLeak reports the tensor', async () => {
    const leaks: string[] = [];
    const ctx = await createContext({ device, onLeak: message => leaks.push(message) });
    const upload = (): void => void ctx.upload(Tensor.zeros([3, 5]));
    upload();
    const kept = ctx.upload(Tensor.zeros([7]));
    ctx.upload(Tensor.zeros([9])).destroy();
    await collectGarbage();
    expect(leaks).toEqual([expect.stringMatching(/f32 \[3,5\].*60 bytes.*destroy\(\)/)]);
    expect(ctx.memory.current).toBeGreaterThanOrEqual(60 + 28);
    expect(kept.shape).toEqual([7]);
    ctx.destroy();
  });

  test('is not a leak once its context was destroyed, which frees all memory', async () => {
    const leaks: string[] = [];
    const ctx = await createContext({ device, onLeak: message => leaks.push(message) });
    const upload = (): void => void ctx.upload(Tensor.zeros([3, 5]));
    upload();
    ctx.destroy();
    await collectGarbage();
    expect([leaks, ctx.memory.current]).toEqual([[], 0]);
  });

  test('onLeak must be a function', async () => {
    const error = await createContext({ device, onLeak: 'warn' as never }).catch((e: unknown) => e);
    expectError(error, InvalidArgumentError, 'onLeak', /must be a function/);
  });
});

test('tensors and contexts end with the block that uses them', async () => {
  const ctx = await createContext({ device });
  const t = ctx.upload(Tensor.zeros([4]));
  t[Symbol.dispose]();
  expect(caught(() => ctx.view(t, { shape: [4] }))).toMatchObject({ argument: 'tensor' });
  ctx[Symbol.dispose]();
  expect(() => ctx.checkAlive()).toThrow(/was destroyed/);
});

describe('a tensor of another context', () => {
  test('is not released', async () => {
    const [own, other] = await Promise.all([createContext({ device }), createContext({ device })]);
    const t = other.upload(Tensor.from([1, 2], [2]));
    expectError(
      caught(() => own.release(t)),
      InvalidArgumentError,
      'tensor',
      /another context/,
    );
    expect([...(await other.download(t)).toFloat32()]).toEqual([1, 2]);
    own.destroy();
    other.destroy();
  });

  test('is not released through a view', async () => {
    const [own, other] = await Promise.all([createContext({ device }), createContext({ device })]);
    const view = other.view(other.upload(Tensor.zeros([4])), { shape: [2] });
    expectError(
      caught(() => own.release(view)),
      InvalidArgumentError,
      'tensor',
      /another context/,
    );
    own.destroy();
    other.destroy();
  });
});

test('a destroyed tensor has no views', async () => {
  const ctx = await createContext({ device });
  const t = ctx.upload(Tensor.zeros([4]));
  t.destroy();
  expectError(
    caught(() => ctx.view(t, { shape: [2] })),
    InvalidArgumentError,
    'tensor',
    /was destroyed/,
  );
  expectError(
    caught(() => t.permute(0)),
    InvalidArgumentError,
    'tensor',
    /was destroyed/,
  );
  ctx.destroy();
});
