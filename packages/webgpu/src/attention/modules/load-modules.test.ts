import { Tensor, UnsupportedError } from '@tilewise/core';
import * as e from '@tilewise/core/expr';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { callersDevice } from '../../../testing/device/device-buffers.ts';
import {
  checkSupport,
  createContext,
  type GpuContext,
  sdpa,
  sdpaBackward,
  webgpuEngine,
} from '../../index.ts';

// Programs need not load modules that they do not use, and get a clear error if they use one after all.

const [q, k, v] = [1, 2, 3].map(seed => normal([1, 2, 3, 8], seed));

let bare: GpuContext;
beforeAll(async () => {
  bare = await createContext({ device: await callersDevice(), load: [] });
});
afterAll(() => bare.destroy());

test.each<[string, object]>([
  ['dropout', { dropout: { p: 0.5, seed: 1 } }],
  ['dropout', { outputs: { dropoutMask: true } }],
  ['mods', { scoreMod: e.scoreMod(({ score }) => e.mul(score, 2)) }],
  ['mods', { maskMod: e.maskMod(({ q: i, kv }) => e.ge(i, kv)) }],
  ['sequences', { seqLensKv: [2] }],
])('a call that needs the module %s is unsupported without it', (name, options) => {
  const tensors = [q, k, v].map(t => bare.upload(t));
  expect(() => sdpa(bare, tensors[0], tensors[1], tensors[2], options)).toThrow(UnsupportedError);
  expect(() => sdpa(bare, tensors[0], tensors[1], tensors[2], options)).toThrow(
    `the module '${name}' was not loaded: name it in createContext({ load })`,
  );
});

test('the gradient of a bias needs the module gradients, and others do not', async () => {
  const [Q, K, V] = [q, k, v].map(t => bare.upload(t));
  const bias = Tensor.zeros([3, 3]);
  const { o, lse } = sdpa(bare, Q, K, V, { bias });
  const inputs = { q: Q, k: K, v: V, o, lse, dO: o };
  expect(() => sdpaBackward(bare, inputs, { bias })).toThrow("the module 'gradients' was not loaded");
  expect(() => sdpaBackward(bare, inputs, { bias, gradients: ['dq'] })).not.toThrow();
  await bare.submitted();
});

test('integers that a score mod loads have no gradient, and so need no module gradients', async () => {
  const ctx = await createContext({ device: await callersDevice(), load: ['mods'] });
  const [Q, K, V] = [q, k, v].map(t => ctx.upload(t));
  const backward = (dtype: 'i32' | 'f32') => (): object => {
    const table = Tensor.from([0, 1, 1], [3], { dtype });
    const at = (kv: e.Expr) => e.load('table', [kv], dtype);
    const scoreMod = e.scoreMod(({ score, kv }) => e.add(score, e.toF32(at(kv))), { table });
    const { o, lse } = sdpa(ctx, Q, K, V, { scoreMod });
    return sdpaBackward(ctx, { q: Q, k: K, v: V, o, lse, dO: o }, { scoreMod });
  };
  expect(backward('i32')()).toHaveProperty('dq');
  expect(backward('f32')).toThrow("the module 'gradients' was not loaded");
  await ctx.submitted();
  ctx.destroy();
});

test('an engine has the modules of its context, and a plan has the modules that it needs', async () => {
  const engine = webgpuEngine(bare);
  const { problem } = (await import('@tilewise/core')).normalise(
    { q, k, v },
    { dropout: { p: 0.5, seed: 1 } },
  );
  expect(engine.checkSupport(problem)).toEqual({
    supported: false,
    reasons: ["the module 'dropout' was not loaded: name it in createContext({ load })"],
  });
  expect(checkSupport(bare, problem).supported).toBe(true);
});

test('few queries against many keys are right without the module splitKv', async () => {
  const [few, keys, values] = [
    [1, 2, 1, 8],
    [1, 2, 3000, 8],
    [1, 2, 3000, 8],
  ].map((shape, n) => normal(shape, n));
  const whole = await createContext({ device: await callersDevice(), load: ['splitKv'] });
  const resultOf = async (ctx: GpuContext): Promise<Record<string, Tensor>> => {
    const { o, lse } = sdpa(ctx, ctx.upload(few), ctx.upload(keys), ctx.upload(values));
    return { o: await ctx.download(o), lse: await ctx.download(lse) };
  };
  expectAgreement(await resultOf(bare), await resultOf(whole), { distance: 8 });
  whole.destroy();
});

test('a misspelt option is refused with a hint where the module hints is loaded', async () => {
  const [Q, K, V] = [q, k, v].map(t => bare.upload(t));
  const misspelt = { causual: true } as object;
  expect(() => sdpa(bare, Q, K, V, misspelt)).toThrow(/^causual is not an option; the options are .*causal/);
});

test('unknown module names are refused', async () => {
  const device = await callersDevice();
  await expect(createContext({ device, load: ['dropouts'] as never })).rejects.toThrow(
    'load must be an array of names from dropout, mods, splitKv, gradients, largeTensors, sequences, hints, got ["dropouts"]',
  );
});
