import { describe, expect, test } from 'vitest';
import { normal } from '../../../testing/normal.ts';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import type { BackwardInputs, SdpaBackwardOptions, SdpaOptions } from '../../attention/options/options.ts';
import { add, load } from '../../expr/build.ts';
import { scoreMod } from '../../expr/mods/mod.ts';
import { quantiseMxfp8 } from '../../mxfp8/quantise.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { cpuEngine } from '../engine.ts';

type Tensors = Readonly<Record<string, Tensor>>;

const [B, H, S, D] = [2, 2, 70, 8];
const q = normal([B, H, S, D], 1);
const k = normal([B, H, S, D], 2);
const v = normal([B, H, S, D], 3);
const dO = normal([B, H, S, D], 4);

/** A tensor of 7s, with other elements before and after it in memory. */
function amid(like: Tensor): Tensor {
  const data = like.data.slice(0, 0).constructor as Float32ArrayConstructor;
  return Tensor.wrap(new data(like.size + 8).fill(7), { dtype: like.dtype, shape: like.shape, offset: 4 });
}

const options: Readonly<Record<string, SdpaOptions<Tensor>>> = {
  plain: {},
  'causal with dropout': { causal: true, dropout: { p: 0.3, seed: 5, offset: 6n } },
  'with a bias and slopes': { bias: normal([1, H, S, S], 5), alibi: true },
  'of sequences that end early': { seqLensQ: [70, 31], seqLensKv: [0, 69] },
  'with queries and keys that see nothing': {
    mask: Tensor.from(
      Array.from({ length: S * S }, (_, n) => Number(n >= 20 * S && n % S < 50)),
      [S, S],
      { dtype: 'bool' },
    ),
  },
};

describe.each(Object.entries(options))('prepared attention, %s', (_name, option) => {
  test('writes the results of a call to the given tensors, forward and backward', async () => {
    const engine = cpuEngine({ threads: 1 });
    const asked = { ...option, outputs: { max: true, sumExp: true } };
    const called = await engine.sdpa(q, k, v, asked);
    const { problem, operands } = normalise({ q, k, v }, asked);
    const results = {
      o: amid(called.o),
      lse: amid(called.lse),
      max: amid(called.lse),
      sumExp: amid(called.lse),
    };
    const prepared = engine.prepareAttention?.(problem);
    const tensors = operands as unknown as Readonly<Record<string, Tensor>>;
    await prepared?.run({ ...tensors, ...results });
    for (const [name, t] of Object.entries(results)) {
      expect(t.toFloat32(), name).toEqual(called[name as 'o'].toFloat32());
      expect([...t.data.subarray(0, 4), ...t.data.subarray(4 + t.size)], name).toEqual(new Array(8).fill(7));
    }

    const inputs: BackwardInputs<Tensor> = { q, k, v, o: called.o, lse: called.lse, dO };
    const gradients = ['dq', 'dk', 'dv', ...(option.bias ? (['dbias', 'dAlibi'] as const) : [])] as const;
    const backOptions: SdpaBackwardOptions<Tensor, 'dq' | 'dk' | 'dv' | 'dbias' | 'dAlibi'> = {
      ...option,
      gradients,
    };
    const made = await engine.sdpaBackward(inputs, backOptions);
    const back = normaliseBackward(inputs, backOptions);
    const targets = Object.fromEntries(gradients.map(name => [name, amid(made[name])]));
    const preparedBackward = engine.prepareAttention?.(back.problem);
    const bytes = preparedBackward?.workspaceBytes ?? 0;
    const workspace = Tensor.zeros([bytes / 4 + 1]);
    workspace.data.fill(7);
    const backTensors = back.operands as unknown as Readonly<Record<string, Tensor>>;
    await preparedBackward?.run({ ...backTensors, ...targets }, { workspace });
    for (const [name, t] of Object.entries(targets)) {
      expect(t.toFloat32(), name).toEqual(made[name as 'dq'].toFloat32());
      expect([...t.data.subarray(0, 4), ...t.data.subarray(4 + t.size)], name).toEqual(new Array(8).fill(7));
    }
    expect(workspace.data.at(-1), 'what is behind the workspace').toBe(7);
  });
});

test('on several threads, too', async () => {
  const engine = cpuEngine({ threads: 2 });
  const [a, b] = [normal([1, 4, 400, 64], 7), normal([1, 4, 400, 64], 8)];
  const called = await engine.sdpa(a, b, b);
  const { problem } = normalise({ q: a, k: b, v: b });
  const [o, lse] = [amid(called.o), amid(called.lse)];
  await engine.prepareAttention?.(problem).run({ q: a, k: b, v: b, o, lse });
  expect(o.toFloat32()).toEqual(called.o.toFloat32());
  expect(lse.toFloat32()).toEqual(called.lse.toFloat32());
});

test('scale, seed and offset may differ in each run', async () => {
  const engine = cpuEngine({ threads: 1 });
  const { problem, operands } = normalise({ q, k, v }, { dropout: { p: 0.3, seed: 5 } });
  const prepared = engine.prepareAttention?.(problem);
  const [o, lse] = [Tensor.zeros(q.shape), Tensor.zeros([B, H, S])];
  const tensors = operands as unknown as Readonly<Record<string, Tensor>>;
  await prepared?.run({ ...tensors, o, lse }, { scale: 0.7, seed: [9, 1], offset: [3, 0] });
  const expected = await engine.sdpa(q, k, v, {
    scale: 0.7,
    dropout: { p: 0.3, seed: 9n + 2n ** 32n, offset: 3n },
  });
  expect(o.toFloat32()).toEqual(expected.o.toFloat32());
});

test('of sequences at ragged offsets', async () => {
  const engine = cpuEngine({ threads: 1 });
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([10, 2, 8], seed));
  const at = [0, 4 * 16, 10 * 16];
  const option = {
    raggedOffsets: { q: at, k: at, v: at, o: at },
    ...{ seqLensQ: [4, 6], seqLensKv: [3, 6] },
  };
  const called = await engine.sdpa(q, k, v, option);
  const { problem, operands } = normalise({ q, k, v }, option);
  const [o, lse] = [called.o, called.lse].map(({ shape }) => Tensor.zeros(shape));
  await engine.prepareAttention?.(problem).run({ ...(operands as unknown as Tensors), o, lse });
  expect(o.toFloat32()).toEqual(called.o.toFloat32());
  expect(lse.toFloat32()).toEqual(called.lse.toFloat32());

  const inputs = { q, k, v, ...called, dO };
  const backOption = {
    ...option,
    raggedOffsets: { ...option.raggedOffsets, dO: at, dq: at, dk: at, dv: at },
  };
  const made = await engine.sdpaBackward(inputs, backOption);
  const back = normaliseBackward(inputs, backOption);
  const [dq, dk, dv] = [made.dq, made.dk, made.dv].map(({ shape }) => Tensor.zeros(shape));
  await engine.prepareAttention?.(back.problem).run({ ...(back.operands as unknown as Tensors), dq, dk, dv });
  for (const [name, t] of Object.entries({ dq, dk, dv })) {
    expect(t.toFloat32(), name).toEqual(made[name as 'dq'].toFloat32());
  }
});

test.each([20, 200])(
  'gradients of %i queries that interleave in one buffer do not overwrite each other',
  async S2 => {
    const engine = cpuEngine({ threads: 1 });
    const shape = [B, H, S2, D];
    const inputs = Object.fromEntries(
      ['q', 'k', 'v', 'dO'].map((name, n) => [name, normal(shape, n + 1)]),
    ) as Record<'q' | 'k' | 'v' | 'dO', Tensor>;
    const forward = await engine.sdpa(inputs.q, inputs.k, inputs.v, { causal: true });
    const all = { ...inputs, ...forward };
    const called = await engine.sdpaBackward(all, { causal: true });
    const { problem, operands } = normaliseBackward(all, { causal: true });
    const data = new Float32Array(3 * B * H * S2 * D);
    const strides = [H * S2 * 3 * D, S2 * 3 * D, 3 * D, 1] as const;
    const [dq, dk, dv] = [0, 1, 2].map(n =>
      Tensor.wrap(data, { dtype: 'f32', shape, strides, offset: n * D }),
    );
    const like = { ...problem.dq, strides };
    const prepared = engine.prepareAttention?.({ ...problem, dq: like, dk: like, dv: like });
    await prepared?.run({ ...(operands as unknown as Record<string, Tensor>), dq, dk, dv });
    for (const [name, t] of Object.entries({ dq, dk, dv }))
      expect(t.toFloat32(), name).toEqual(called[name as 'dq'].toFloat32());
  },
);

test('gradients with gaps are zero without queries, and their gaps stay', async () => {
  const engine = cpuEngine({ threads: 1 });
  const empty = Tensor.zeros([B, H, 0, D]);
  const forward = await engine.sdpa(empty, k, v);
  const { problem, operands } = normaliseBackward({ q: empty, k, v, dO: empty, ...forward }, {});
  const strides = [H * S * 2 * D, S * 2 * D, 2 * D, 1] as const;
  const [dk, dv] = [0, 1].map(() =>
    Tensor.wrap(new Float32Array(2 * k.size).fill(7), { dtype: 'f32', shape: [B, H, S, D], strides }),
  );
  const like = { ...problem.dk, strides };
  const prepared = engine.prepareAttention?.({ ...problem, dk: like, dv: like });
  await prepared?.run({ ...(operands as unknown as Record<string, Tensor>), dq: empty, dk, dv });
  for (const { data } of [dk, dv]) expect(data.every((x, n) => x === (n % (2 * D) < D ? 0 : 7))).toBe(true);
});

test('operands in MXFP8 are given by the names of their option', async () => {
  const engine = cpuEngine({ threads: 1 });
  const shape = [1, 1, 32, 32];
  const [a, b] = [quantiseMxfp8(normal(shape, 1)), quantiseMxfp8(normal(shape, 2))];
  const c = quantiseMxfp8(normal(shape, 3), { along: 'positions' });
  const mxfp8 = { descaleQ: a.scales, descaleK: b.scales, descaleV: c.scales };
  const inputs = { q: a.values, k: b.values, v: c.values };
  const called = await engine.sdpa(inputs.q, inputs.k, inputs.v, { mxfp8 });
  const { problem } = normalise(inputs, { mxfp8 });
  const o = Tensor.zeros(shape, { dtype: 'bf16' });
  const scales = Object.fromEntries(Object.entries(mxfp8).map(([name, t]) => [`mxfp8.${name}`, t]));
  const lse = Tensor.zeros([1, 1, 32]);
  await engine.prepareAttention?.(problem).run({ ...inputs, ...scales, o, lse });
  expect(o.data).toEqual(called.o.data);
});

test('the gradients of captured tensors are written to the given tensors', async () => {
  const engine = cpuEngine({ threads: 1 });
  const table = normal([S], 6);
  const option = { scoreMod: scoreMod<Tensor>(p => add(p.score, load('table', [p.kv])), { table }) };
  const inputs = { q, k, v, ...(await engine.sdpa(q, k, v, option)), dO };
  const called = await engine.sdpaBackward(inputs, option);
  const { problem } = normaliseBackward(inputs, option);
  const [dq, dk, dv] = [q, k, v].map(amid);
  const gradient = amid(table);
  await engine.prepareAttention?.(problem).run({
    ...inputs,
    ...{ 'captures.table': table, 'dCaptures.table': gradient, dq, dk, dv },
  });
  expect(gradient.toFloat32()).toEqual(called.dCaptures?.table?.toFloat32());
});

describe('tensors that are not those of the problem are refused', () => {
  const engine = cpuEngine({ threads: 1 });
  const { problem } = normalise({ q, k, v }, {});
  const tensors = { q, k, v, o: Tensor.zeros(q.shape), lse: Tensor.zeros([B, H, S]) };
  test.each<[what: string, change: Partial<Tensors>, message: string]>([
    ['one too few', { k: undefined as never }, 'k must be given, because the problem uses it'],
    [
      'another shape',
      { v: v.slice(2, 0, 9) },
      `v must have shape [${B},${H},${S},${D}], got [${B},${H},9,${D}]`,
    ],
    ['another dtype', { lse: tensors.lse.cast('f16') }, 'lse must be f32, got f16'],
    [
      'other strides',
      { q: amid(q).permute(1, 0, 2, 3) },
      'q must have strides [1120,560,8,1], got [560,1120,8,1]',
    ],
  ])('%s', async (_, change, message) => {
    const prepared = engine.prepareAttention?.(problem);
    await expect(prepared?.run({ ...tensors, ...(change as Tensors) })).rejects.toThrow(message);
    expect(() => prepared?.bind?.({ ...tensors, ...(change as Tensors) })).toThrow(message);
  });
});
