import { setTimeout as sleep } from 'node:timers/promises';
import { fillNormal } from '@tilewise/philox';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { workerText } from '../../../scripts/worker-text.mjs';
import { normal } from '../../../testing/normal.ts';
import { normaliseBackwardOnHost, normaliseOnHost } from '../../attention/call/normalise-on-host.ts';
import { add, exp, mul, toF32 } from '../../expr/index.ts';
import { coordinate, input, type Primitive, reduced } from '../../primitive/index.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { cpuEngine } from '../engine.ts';
import { compiledModules, createEngineKernels, engineKernels } from '../kernels/engine-kernels.ts';
import { kernelModules as attentionModules, bestVariant } from '../kernels/host-kernels.ts';
import { cpuPrimitives } from '../primitives/cpu-primitives.ts';
import { createPool } from '../threads/pool.ts';
import { control, fillQueues, queueAt, runTasks, tasksLeft } from './control.ts';
import { TASK_WORDS, taskKinds, writeTasks } from './tasks.ts';
import { createTeam } from './team.ts';

const workerSource = await workerText(new URL('../worker.ts', import.meta.url).pathname);
vi.mock('../threads/worker-source.ts', () => ({
  get workerSource() {
    return workerSource;
  },
}));

const sum = (axes: readonly number[], domain: readonly number[]): Primitive => ({
  ...{ kind: 'reduce', op: 'sum', axes, domain, element: mul(input(0), input(0)), result: reduced },
});

/** Steps that are long enough for threads: a primitive, its inputs, and the shape of its result. */
const steps: Readonly<Record<string, readonly [Primitive, readonly Tensor[], readonly number[]]>> = {
  product: [{ kind: 'matmul' }, [normal([512, 96], 1), normal([96, 520], 2)], [512, 520]],
  'product whose last rows and columns are part of a block': [
    { kind: 'matmul' },
    [normal([514, 97], 1), normal([97, 521], 2)],
    [514, 521],
  ],
  'product of transposed matrices': [
    { kind: 'matmul' },
    [normal([300, 256], 1).permute(1, 0), normal([328, 300], 2).permute(1, 0)],
    [256, 328],
  ],
  'a row by a matrix': [{ kind: 'matmul' }, [normal([1, 512], 1), normal([512, 2051], 2)], [1, 2051]],
  'a row by a transposed matrix': [
    { kind: 'matmul' },
    [normal([1, 512], 1), normal([2051, 512], 2).permute(1, 0)],
    [1, 2051],
  ],
  'products with one matrix': [
    { kind: 'matmul' },
    [normal([6, 128, 256], 1), normal([256, 64], 2)],
    [6, 128, 64],
  ],
  'products with separate matrices': [
    { kind: 'matmul' },
    [normal([4, 128, 128], 1), normal([4, 128, 64], 2)],
    [4, 128, 64],
  ],
  'elements in line': [{ kind: 'map', value: exp(input(0)) }, [normal([600_003], 1)], [600_003]],
  'elements that know their coordinates': [
    { kind: 'map', value: add(mul(input(0), input(1)), toF32(add(coordinate(0), coordinate(1)))) },
    [normal([600, 401], 1), normal([401], 2)],
    [600, 401],
  ],
  transposed: [
    { kind: 'map', value: input(0) },
    [normal([6, 400, 7, 64], 1).permute(0, 2, 1, 3)],
    [6, 7, 400, 64],
  ],
  'sums of rows': [sum([1], [900, 600]), [normal([900, 600], 1)], [900, 1]],
  'sums of columns': [sum([0], [900, 600]), [normal([900, 600], 1)], [1, 600]],
  'sums of middles': [sum([1], [5, 900, 128]), [normal([5, 900, 128], 1)], [5, 1, 128]],
  'one sum': [sum([0, 1], [900, 600]), [normal([900, 600], 1)], [1, 1]],
  'sums of rows by index': [
    { kind: 'scatter-add' },
    [
      Tensor.from(
        Array.from({ length: 2500 }, (_, n) => (n * n) % 97),
        [2500],
        { dtype: 'i32' },
      ),
      normal([2500, 256], 1),
    ],
    [100, 256],
  ],
  softmax: [{ kind: 'softmax', axis: 1, log: false, mode: 'none' }, [normal([600, 801], 1)], [600, 801]],
};

// A product does not share operands at the end of the memory, beyond which kernels would read, and where
// operands are depends on when others are collected. Memory that was large once has room behind all of them.
const memory = engineKernels.residentMemory(bestVariant());
const large = memory.keep(2 ** 26);
if (large) memory.free(large.at);

test.each(Object.keys(steps))('%s: divided among sleeping threads', name => {
  const [primitive, inputs, shape] = steps[name];
  const run = vi.fn();
  const team = { threads: 2, isAwake: false, run, disband() {} };
  const { allocate, prepare } = cpuPrimitives(bestVariant(), team);
  const result = allocate({ dtype: 'f32', shape });
  prepare(primitive, inputs.map(allocated), [result]).run(inputs.map(allocated), [result]);
  // The order of the sum of all elements is that of one thread.
  expect(run.mock.calls.length > 0).toBe(name !== 'one sum');

  function allocated(input: Tensor): Tensor {
    return allocate(input);
  }
});

test('steps that are too short to wake workers start none', () => {
  const pool = vi.fn(() => null);
  const { allocate, prepare } = cpuPrimitives(bestVariant(), createTeam(pool));
  const operands = [normal([96, 128], 1), normal([128, 64], 2)].map(allocate);
  const result = allocate({ dtype: 'f32', shape: [96, 64] });
  prepare({ kind: 'matmul' }, operands, [result]).run(operands, [result]);
  expect(pool).not.toHaveBeenCalled();
});

describe.each([2, 4])('%i threads', threads => {
  const engine = cpuEngine({ threads });
  const alone = cpuEngine({ threads: 1 });

  test.each(Object.entries(steps))('%s: the bits of one thread', async (_, [primitive, inputs, shape]) => {
    const run = ({ primitives }: typeof engine): Uint8Array => {
      const result = primitives.allocate({ dtype: 'f32', shape });
      primitives.prepare(primitive, inputs, [result]).run(inputs, [result]);
      return new Uint8Array(result.toFloat32().slice().buffer);
    };
    const expected = run(alone);
    for (let round = 0; round < 4; round++) {
      expect(Buffer.compare(run(engine), expected)).toBe(0);
      // In the meantime workers start, join their region, and receive new loops.
      await sleep(round * 10);
    }
  });

  test('attention of small heads: the bits of one thread', async () => {
    const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([64, 4, 24, 8], seed));
    const forward = await alone.sdpa(q, k, v, { causal: true });
    const inputs = { q, k, v, ...forward, dO };
    const expected = { ...forward, ...(await alone.sdpaBackward(inputs, { causal: true })) };
    const { problem } = normaliseOnHost({ q, k, v }, { causal: true });
    const back = normaliseBackwardOnHost(inputs, { causal: true }).problem;
    for (let round = 0; round < 4; round++) {
      const [o, dq, dk, dv] = [q, q, k, v].map(t => engine.primitives.allocate(t));
      const lse = engine.primitives.allocate(forward.lse);
      // As a graph runs attention, together with the workers.
      await engine.prepareAttention?.(problem).run({ q, k, v, o, lse });
      await engine.prepareAttention?.(back).run({ q, k, v, o, lse, dO, dq, dk, dv });
      for (const [name, t] of Object.entries({ o, lse, dq, dk, dv })) {
        expect(t.toFloat32(), name).toEqual(expected[name as 'o'].toFloat32());
      }
      await sleep(round * 10);
    }
  });

  test('steps and attention take turns with the workers', async () => {
    const q = normal([1, 4, 256, 64], 7);
    const [primitive, inputs, shape] = steps.product;
    const expected = await alone.sdpa(q, q, q);
    for (let round = 0; round < 4; round++) {
      const attention = engine.sdpa(q, q, q);
      const result = Tensor.zeros(shape);
      engine.primitives.prepare(primitive, inputs, [result]).run(inputs, [result]);
      const bytes = (t: Tensor): Buffer => Buffer.from(t.data.buffer);
      expect(Buffer.compare(bytes((await attention).o), bytes(expected.o))).toBe(0);
    }
  });
});

test('workers start even if the caller awaits nothing but downloads', async () => {
  const createPool = vi.fn(() => {
    throw new Error('this test has no workers');
  });
  vi.resetModules();
  vi.doMock('../threads/pool.ts', () => ({ createPool, WorkerFailure: Error }));
  vi.doMock('../threads/worker-source.ts', () => ({ workerSource: '' }));
  onTestFinished(() => {
    vi.doUnmock('../threads/pool.ts');
    vi.doUnmock('../threads/worker-source.ts');
    vi.resetModules();
  });
  const { cpuEngine: newEngine } = await import('../engine.ts');
  const engine = newEngine({ threads: 2 });
  const [primitive, inputs, shape] = steps.product;
  const result = engine.primitives.allocate({ dtype: 'f32', shape });
  const step = engine.primitives.prepare(primitive, inputs, [result]);
  step.run(inputs, [result]);
  expect(createPool).not.toHaveBeenCalled();
  const copy = engine.download(result);
  result.data.fill(0);
  expect((await copy).toFloat32()[0]).not.toBe(0);
  expect(createPool).toHaveBeenCalledTimes(1);
});

describe('a worker', async () => {
  const variant = bestVariant();
  await attentionModules.compile(variant);
  const kernels = createEngineKernels(variant);
  const pool = createPool(2, workerSource, {
    kind: 'set-up',
    variant,
    module: attentionModules.get(variant),
  });
  afterAll(() => pool.terminate());
  const { memory, wasm, matrices, heads } = kernels;
  const kernelModules = compiledModules(variant);
  const [m, n, k] = [8, 16, 24];

  /** The tasks of a product, and its result on one thread. */
  function product() {
    memory.reset();
    const [a, b] = [memory.floats(m * k), memory.floats(k * n)];
    fillNormal(a.values, { seed: 1 });
    fillNormal(b.values, { seed: 2 });
    const c = memory.floats(m * n);
    const scratch = memory.scratch(2 * (m + n) * k).at;
    // The upper and the lower half.
    const rows = [0, m / 2].map(i => [
      ...[taskKinds.product, m / 2, n, k, a.at + 4 * i * k, 4 * k, 0, b.at, 4 * n, 0],
      ...[c.at + 4 * i * n, 4 * n, 1, m, scratch, 4 * (m + n) * k, 1, 0, 0, 0],
    ]);
    const expected = Float32Array.from({ length: m * n }, (_, at) => {
      let total = 0;
      for (let d = 0; d < k; d++) {
        total += a.values[Math.floor(at / n) * k + d] * b.values[d * n + (at % n)];
      }
      return total;
    });
    const isRight = (): boolean => c.values.every((x, at) => Math.abs(x - expected[at]) < 1e-4);
    return { rows, isRight };
  }

  test('runs the tasks of its region, and none of another', async () => {
    if (!wasm || !matrices || !heads || !kernelModules) throw new Error('this host has WebAssembly');
    const { rows, isRight } = product();
    const at = memory.scratch(rows.length * TASK_WORDS).at >> 2;
    rows.forEach((row, task) => {
      memory.i32.set(row, at + task * TASK_WORDS);
    });
    const shared = new Int32Array(new SharedArrayBuffer(4 * queueAt(2)));
    shared[control.region] = 5;
    shared[control.tasks] = at;
    shared[control.threads] = 2;
    fillQueues(shared, 6, rows.length);
    runTasks(shared, 5, () => memory.i32, 0, { matrices, heads, loop: () => () => {} });
    expect(shared[queueAt(0)]).toBe(tasksLeft(6, 1));

    fillQueues(shared, 5, rows.length);
    const known = { memory: wasm.memory, memoryNumber: 1, kernelModules };
    pool.tell(1, { kind: 'region', shared, region: 5, thread: 1, ...known, firstLoop: 0, loops: [] });
    while (Atomics.load(shared, control.done) < rows.length) await sleep(1);
    expect(isRight()).toBe(true);
    expect(shared[control.failed]).toBe(0);
  });

  test('a task that cannot run fails its step', () => {
    const team = createTeam(() => pool);
    const { rows } = product();
    const beyond = rows.map(row => row.map((word, at) => (at === 7 ? 2 ** 31 - 64 : word)));
    const tasks = writeTasks(beyond, words => memory.scratch(words).at, memory);
    expect(() => {
      for (let round = 0; round < 1000; round++) team.run(kernels, tasks, true);
    }).toThrow();
  });
});
