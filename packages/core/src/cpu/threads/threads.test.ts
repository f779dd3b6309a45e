import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { workerText } from '../../../scripts/worker-text.mjs';
import { normal } from '../../../testing/normal.ts';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import type { SdpaBackwardOptions } from '../../attention/options/options.ts';
import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../../attention/problem/problem.ts';
import type { SdpaResult } from '../../engine/engine.ts';
import { add, mul, scoreMod, sub } from '../../expr/index.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { backward } from '../attention/backward/backward.ts';
import { forward } from '../attention/forward/forward.ts';
import { cpuEngine } from '../engine.ts';
import { createEngineKernels } from '../kernels/engine-kernels.ts';
import { kernelModules, supportedVariants } from '../kernels/host-kernels.ts';
import { backwardOnThreads } from './passes/backward-on-threads.ts';
import { forwardOnThreads } from './passes/forward-on-threads.ts';
import type { OwnKernels } from './passes/run-on-threads.ts';
import { createPool, type Pool } from './pool.ts';
import { announcePart } from './shared/arrivals.ts';
import { copyPart, moved } from './shared/shared-tensors.ts';
import { type TakenOperands, takeOperands } from './shared/taken-operands.ts';

const workerSource = await workerText(new URL('../worker.ts', import.meta.url).pathname);
vi.mock('./worker-source.ts', () => ({
  get workerSource() {
    return workerSource;
  },
}));

type Tensors = Readonly<Record<string, Tensor | undefined>>;

const bits = (results: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(results as Tensors).flatMap(([name, t]) =>
      t ? [[name, Buffer.from(t.data.buffer).toString('base64')]] : [],
    ),
  );

const options: Readonly<Record<string, SdpaBackwardOptions<Tensor>>> = {
  plain: {},
  'causal with a sink and dropout': {
    causal: true,
    sink: [0, 1, 2, 3],
    dropout: { p: 0.2, seed: 5 },
    outputs: { max: true, sumExp: true, dropoutMask: true },
  },
  'mask, bias, ALiBi and softcap': {
    mask: Tensor.from(
      normal([90, 130], 9)
        .toFloat32()
        .map(x => Number(x > -1)),
      [90, 130],
      { dtype: 'bool' },
    ),
    bias: normal([4, 1, 130], 8),
    alibi: true,
    softcap: 4,
    gradients: ['dq', 'dk', 'dv'],
  },
  'gradients that are sums of a head': {
    bias: normal([2, 4, 1, 130], 8),
    alibi: true,
    scoreMod: scoreMod(({ score, q, kv }) => mul(score, add(1, mul(0.01, sub(q, kv))))),
    gradients: ['dq', 'dk', 'dv', 'dbias', 'dAlibi'],
  },
  'FP8 with its largest magnitudes': {
    fp8: { scaleS: 256, descaleS: 1 / 256 },
    gradDType: 'bf16',
    outputs: { amaxS: true, amaxO: true, amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: true },
  },
  lengths: { seqLensQ: [90, 31], seqLensKv: [0, 129], window: { left: 40 } },
};

describe.each(supportedVariants())('%s', variant => {
  const kernels = createEngineKernels(variant);
  const pools: Pool[] = [];
  beforeAll(async () => {
    await kernelModules.compile(variant);
    const setUp = { kind: 'set-up', variant, module: kernelModules.get(variant) } as const;
    for (const threads of [1, 2, 3]) pools.push(createPool(threads, workerSource, setUp));
  });
  afterAll(() => {
    for (const pool of pools) pool.terminate();
  });

  async function expectSameBits(
    [q, k, v, dO]: readonly Tensor[],
    given: SdpaBackwardOptions<Tensor>,
    tiles?: { rows: number; columns: number },
  ): Promise<void> {
    const call = normalise({ q, k, v }, given);
    const one: SdpaResult = forward(call.problem, call.operands, { kernels, tiles });
    const { o, lse } = one;
    const back = normaliseBackward({ q, k, v, o, lse, dO }, given);
    const { gradients } = backward(back.problem, back.operands, { kernels, tiles });
    const onOwn: OwnKernels = work => work(kernels);
    for (const pool of pools) {
      for (const own of [null, onOwn]) {
        const taken = takeOperands(call.problem, call.operands);
        const many = await forwardOnThreads(call.problem, taken, pool, { tiles, own });
        expect(bits(many)).toEqual(bits(one));
        const takenBack = takeOperands(back.problem.forward, back.operands);
        const results = await backwardOnThreads(back.problem, takenBack, pool, { tiles, own });
        expect(bits(results.gradients)).toEqual(bits(gradients));
      }
    }
  }

  test('this thread leaves a pass to the workers while they are busy with another', async () => {
    const [q, k, v] = [1, 2, 3].map(seed => normal([1, 2, 70, 8], seed));
    const { problem, operands } = normalise({ q, k, v });
    const expected = bits(forward(problem, operands, { kernels }));
    const own = vi.fn(work => work(kernels)) as OwnKernels;
    const passes = [1, 2].map(() =>
      forwardOnThreads(problem, takeOperands(problem, operands), pools[1], { own }),
    );
    for (const results of await Promise.all(passes)) expect(bits(results)).toEqual(expected);
    expect(own).toHaveBeenCalledTimes(1);
  });

  test('an error of this thread before its first task leaves all tasks to the workers', async () => {
    const [q, k, v] = [1, 2, 3].map(seed => normal([1, 2, 70, 8], seed));
    const { problem, operands } = normalise({ q, k, v });
    const own: OwnKernels = () => {
      throw new Error('no memory');
    };
    const results = await forwardOnThreads(problem, takeOperands(problem, operands), pools[1], { own });
    expect(bits(results)).toEqual(bits(forward(problem, operands, { kernels })));
  });

  test('a score mod that nests 10,000 deep reaches the workers', async () => {
    const nested = scoreMod(({ score }) => {
      let x = score;
      for (let n = 0; n < 10_000; n++) x = sub(1, x);
      return x;
    });
    const [q, k, v] = [1, 2, 3].map(seed => normal([1, 1, 3, 4], seed));
    const { problem, operands } = normalise({ q, k, v }, { scoreMod: nested });
    const { o } = await forwardOnThreads(problem, takeOperands(problem, operands), pools[0]);
    expect(o).toEqual(forward(problem, operands, { kernels }).o);
  });

  test.each(Object.entries(options))(
    '%s has the same bits with any number of threads',
    async (name, given) => {
      const dtype = name === 'plain' ? 'bf16' : given.fp8 ? 'f8e4m3' : 'f32';
      const tensors = [
        normal([2, 4, 90, 16], 1, dtype),
        normal([2, 2, 130, 16], 2, dtype),
        normal([2, 1, 130, 12], 3, dtype),
        normal([2, 4, 90, 12], 4, dtype),
      ];
      await expectSameBits(tensors, given, { rows: 16, columns: 32 });
    },
  );

  test('many keys of few heads are cut into parts, which add up to the same bits', async () => {
    const tensors = [1, 2, 3, 4].map(seed => normal([1, 1, seed % 3 === 1 ? 70 : 2100, 8], seed));
    await expectSameBits(tensors, { causal: 'bottom-right' });
  });
});

test('workers wait for the part of the operands that their task reads', async () => {
  const variant = 'typescript';
  const context = { kernels: createEngineKernels(variant) };
  const pool = createPool(2, workerSource, { kind: 'set-up', variant, module: undefined });
  const heads = 4;
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([2, heads / 2, 40, 16], seed));

  /** Operands whose parts arrive one by one, long after the workers have received the pass. */
  function slowly<O extends Operands<Tensor> | BackwardOperands<Tensor>>(
    problem: AttentionProblem,
    { lse, ...operands }: O & { readonly lse?: Tensor },
  ): TakenOperands<O> {
    const { tensors, copies } = moved(operands, bytes => new SharedArrayBuffer(bytes));
    const taken = takeOperands(problem, { ...tensors, ...(lse && { lse: shared(lse) }) } as unknown as O);
    const arrive = async (): Promise<void> => {
      for (let part = 0; part < heads; part++) {
        await new Promise(resolve => setTimeout(resolve, 20));
        for (const copy of copies) copyPart(copy, part, heads);
        announcePart(taken.arrivals, part, part === heads - 1);
      }
    };
    return { ...taken, arrive: () => void arrive() };
  }

  const call = normalise({ q, k, v });
  const { o, lse } = forward(call.problem, call.operands, context);
  const back = normaliseBackward({ q, k, v, o, lse, dO });
  const { gradients } = backward(back.problem, back.operands, context);
  // The first pass has to wait until the workers have started.
  for (const operands of [takeOperands(call.problem, call.operands), slowly(call.problem, call.operands)]) {
    expect(bits(await forwardOnThreads(call.problem, operands, pool))).toEqual(bits({ o, lse }));
  }
  const operands = slowly(back.problem.forward, back.operands);
  const results = await backwardOnThreads(back.problem, operands, pool);
  expect(bits(results.gradients)).toEqual(bits(gradients));
  pool.terminate();
});

/** A copy of a tensor in shared memory. */
function shared(t: Tensor): Tensor {
  const { tensors, copies } = moved(t, bytes => new SharedArrayBuffer(bytes));
  for (const copy of copies) copyPart(copy, 0, 1);
  return tensors;
}

test('an engine divides large problems among threads, from any storage, and returns its own tensors', async () => {
  const [q, k, v] = [1, 2, 3].map(seed => normal([1, 2, 520, 64], seed));
  const one = await cpuEngine({ threads: 1 }).sdpa(q, k, v);
  const engine = cpuEngine({ threads: 2 });
  expect(engine.description).toMatch(/up to 2 threads$/);
  const results = await Promise.all([engine.sdpa(q, k, v), engine.sdpa(q, k, v)]);
  for (const two of results) {
    expect(bits(two)).toEqual(bits(one));
    expect(two.o.data.buffer).toBeInstanceOf(ArrayBuffer);
  }
  const strided = Tensor.from(q.toFloat32(), q.shape, { strides: [2e5, 1e5, 100, 1] });
  expect(bits(await engine.sdpa(strided, k, v))).toEqual(bits(one));
});

test('a pool reports failed workers, and an engine continues without them', async () => {
  const setUp = { kind: 'set-up', variant: 'typescript', module: undefined } as const;
  const pool = createPool(2, 'throw new Error("no workers here")', setUp);
  const [q] = [normal([1, 1, 4, 4], 1)];
  const { problem, operands } = normalise({ q, k: q, v: q });
  await expect(forwardOnThreads(problem, takeOperands(problem, operands), pool)).rejects.toThrow(
    'no workers here',
  );
  await expect(forwardOnThreads(problem, takeOperands(problem, operands), pool)).rejects.toThrow(
    'no workers here',
  );

  vi.resetModules();
  vi.doMock('./worker-source.ts', () => ({ workerSource: 'throw new Error("no workers here")' }));
  const { cpuEngine: fresh } = await import('../engine.ts');
  const [a, b, c] = [1, 2, 3].map(seed => normal([1, 2, 520, 64], seed));
  const engine = fresh({ threads: 2 });
  const expected = bits(await fresh({ threads: 1 }).sdpa(a, b, c));
  // The tensors of freshly loaded modules have another class, so only their storage is compared.
  for (let n = 0; n < 2; n++) expect(bits(await engine.sdpa(a, b, c))).toEqual(expected);
});

describe('prepared attention whose results are in the memory of the engine', () => {
  const [B, H, S, D] = [2, 4, 300, 64];
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([B, H, S, D], seed));
  const engine = cpuEngine({ threads: 2 });
  const { allocate } = engine.primitives;
  const run = async (problem: AttentionProblem | BackwardProblem, tensors: object): Promise<void> =>
    engine.prepareAttention?.(problem).run({ ...tensors } as Readonly<Record<string, Tensor>>);

  test('writes results in place, also interleaved ones, and leaves the elements between them', async () => {
    const { o, lse } = await engine.sdpa(q, k, v, { causal: true });
    const expected = await engine.sdpaBackward({ q, k, v, o, lse, dO }, { causal: true });
    /** Four tensors like q, with the rows of a position next to each other: (B, S, 4, H, D). */
    const joint = allocate({ dtype: 'f32', shape: [B, S, 4, H, D] });
    joint.data.fill(7);
    const strides = [4 * S * H * D, D, 4 * H * D, 1] as const;
    const [first, second, third, last] = [0, 1, 2, 3].map(n =>
      Tensor.wrap(joint.data, { dtype: 'f32', shape: q.shape, strides, offset: n * H * D }),
    );

    const call = normalise({ q, k, v }, { causal: true });
    const sums = allocate({ dtype: 'f32', shape: [B, H, S] });
    const asked = { ...call.problem, o: { ...call.problem.o, strides } };
    await run(asked, { ...call.operands, o: second, lse: sums });
    expect(second.toFloat32()).toEqual(o.toFloat32());
    expect(sums.toFloat32()).toEqual(lse.toFloat32());
    for (const t of [first, third, last]) expect(t.toFloat32().every(x => x === 7)).toBe(true);

    const { problem, operands } = normaliseBackward({ q, k, v, o, lse, dO }, { causal: true });
    const [dq, dk, dv] = [problem.dq, problem.dk, problem.dv].map(desc => ({ ...desc, strides }));
    await run({ ...problem, dq, dk, dv }, { ...operands, dq: first, dk: second, dv: third });
    for (const [name, t] of Object.entries({ dq: first, dk: second, dv: third }))
      expect(t.toFloat32(), name).toEqual(expected[name as 'dq'].toFloat32());
    expect(last.toFloat32().every(x => x === 7)).toBe(true);
  });
});
