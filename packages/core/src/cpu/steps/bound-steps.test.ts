import { expect, test, vi } from 'vitest';
import { workerText } from '../../../scripts/worker-text.mjs';
import { normal } from '../../../testing/normal.ts';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import { type Expr, exp, mul } from '../../expr/index.ts';
import { type BoundWork, input, type Primitive, reduced } from '../../primitive/index.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { cpuEngine } from '../engine.ts';
import { engineKernels } from '../kernels/engine-kernels.ts';
import { bestVariant } from '../kernels/host-kernels.ts';

const workerSource = await workerText(new URL('../worker.ts', import.meta.url).pathname);
vi.mock('../threads/worker-source.ts', () => ({
  get workerSource() {
    return workerSource;
  },
}));

const bytesOf = ({ data }: Tensor): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

const reduce = (op: 'sum' | 'max'): Primitive => ({
  ...{ kind: 'reduce', op, axes: [1], domain: [600, 500], element: mul(input(0), input(0)), result: reduced },
});

/** A primitive, its inputs, and the shape of its result. */
const cases: Readonly<Record<string, readonly [Primitive, readonly Tensor[], readonly number[]]>> = {
  map: [{ kind: 'map', value: exp(input(0)) }, [normal([700, 500], 1)], [700, 500]],
  'map in many runs': [
    { kind: 'map', value: input(0) },
    [normal([40, 30, 8, 16], 1).permute(0, 2, 1, 3)],
    [40, 8, 30, 16],
  ],
  sum: [reduce('sum'), [normal([600, 500], 1)], [600, 1]],
  max: [reduce('max'), [normal([600, 500], 1)], [600, 1]],
  product: [{ kind: 'matmul' }, [normal([256, 200], 1), normal([200, 512], 2)], [256, 512]],
  'product whose last rows and columns are part of a block': [
    { kind: 'matmul' },
    [normal([200, 254], 1).permute(1, 0), normal([200, 509], 2)],
    [254, 509],
  ],
  'product of columns': [
    { kind: 'matmul' },
    [normal([200, 256], 1).permute(1, 0), normal([512, 200], 2).permute(1, 0)],
    [256, 512],
  ],
  'product of long sums': [
    { kind: 'matmul' },
    [normal([1024, 96], 1).permute(1, 0), normal([1024, 130], 2)],
    [96, 130],
  ],
  softmax: [{ kind: 'softmax', axis: 1, log: false, mode: 'none' }, [normal([600, 500], 1)], [600, 500]],
  'logarithm of softmax': [
    { kind: 'softmax', axis: 1, log: true, mode: 'none' },
    [normal([600, 500], 1)],
    [600, 500],
  ],
};

test.each([1, 2, 3])('bound primitives give the bits of a run, on %i threads', async threads => {
  const { primitives, download } = cpuEngine({ threads });
  const bound = Object.entries(cases).map(([name, [primitive, given, shape]]) => {
    const inputs = given.map(tensor => {
      const own = primitives.allocate(tensor);
      own.data.set(tensor.data);
      return own;
    });
    const [once, again] = [0, 1].map(() => primitives.allocate({ dtype: 'f32', shape }));
    const prepared = primitives.prepare(primitive, inputs, [once]);
    prepared.run(inputs, [once]);
    return { name, once, again, work: prepared.bind?.(inputs, [again]) };
  });
  for (let round = 0; round < 4; round++) {
    for (const { name, once, again, work } of bound) {
      again.data.fill(Number.NaN);
      work?.run();
      // Comparing millions of elements by `toEqual` takes a minute.
      expect(bytesOf(again).equals(bytesOf(once)), name).toBe(true);
    }
    // Workers start, and scratch memory moves, between rounds.
    await download(bound[0].again);
    engineKernels.withKernels(bestVariant(), ({ memory }) => {
      memory.scratch(2 ** (19 + round));
    });
  }
  for (const { work } of bound) work?.release();
});

test.each([1, 2])('joined steps run in order, with the bits of each, on %i threads', async threads => {
  const { primitives, download } = cpuEngine({ threads });
  const [from, between, to] = [0, 1, 2].map(() => primitives.allocate({ dtype: 'f32', shape: [700, 500] }));
  from.data.set(normal([700, 500], 1).data);
  const bind = (value: Expr, input: Tensor, output: Tensor): BoundWork => {
    const work = primitives.prepare({ kind: 'map', value }, [input], [output]).bind?.([input], [output]);
    if (!work) throw new Error('the work must be bound');
    return work;
  };
  const works = [bind(exp(input(0)), from, between), bind(mul(input(0), input(0)), between, to)];
  for (const work of works) work.run();
  const expected = to.toFloat32();
  const joined = primitives.join?.(works);
  for (let round = 0; round < 3; round++) {
    between.data.fill(Number.NaN);
    to.data.fill(Number.NaN);
    joined?.run();
    expect(Buffer.from(to.toFloat32().buffer).equals(Buffer.from(expected.buffer))).toBe(true);
    // Workers start between rounds.
    await download(to);
  }
  expect(primitives.join?.([works[0], { run: () => {}, release: () => {} }])).toBeNull();
  for (const work of works) work.release();
  expect(() => joined?.run()).toThrow('released');
});

test('bound steps keep memory until they are released', () => {
  const { primitives } = cpuEngine({ threads: 1 });
  const memory = engineKernels.residentMemory(bestVariant());
  const [keep, free] = [vi.spyOn(memory, 'keep'), vi.spyOn(memory, 'free')];
  const [from, to] = [0, 1].map(() => primitives.allocate({ dtype: 'f32', shape: [64] }));
  const before = keep.mock.calls.length;
  const work = primitives.prepare({ kind: 'map', value: exp(input(0)) }, [from], [to]).bind?.([from], [to]);
  const kept = keep.mock.calls.length - before;
  expect(kept).toBeGreaterThan(0);
  work?.run();
  work?.run();
  expect(keep.mock.calls.length - before).toBe(kept);
  work?.release();
  expect(free).toHaveBeenCalledTimes(kept);
  vi.restoreAllMocks();
});

test('work on tensors outside the memory of the kernels reads them anew in every run', () => {
  const { primitives } = cpuEngine({ threads: 1 });
  const [from, to] = [Tensor.zeros([64]), Tensor.zeros([64])];
  const prepared = primitives.prepare({ kind: 'map', value: exp(input(0)) }, [from], [to]);
  const works = [from, primitives.allocate(from)].map(tensor => prepared.bind?.([tensor], [to]));
  expect(works).not.toContain(null);
  for (const x of [0, 1, 2]) {
    from.data.fill(x);
    works[0]?.run();
    expect(to.data[63]).toBeCloseTo(Math.exp(x), 5);
  }
});

test.each([1, 2])('bound attention gives the bits of a run, in any layout, on %i threads', async threads => {
  const { prepareAttention, primitives, sdpa, sdpaBackward } = cpuEngine({ threads });
  const [B, H, S, Skv, D] = [6, 4, 40, 24, 16];
  const resident = (tensor: Tensor): Tensor => {
    const own = primitives.allocate(tensor);
    own.data.set(tensor.data);
    return own;
  };
  /** (B, H, S, D), stored by position. */
  const byPosition = (): Tensor =>
    primitives.allocate({ dtype: 'f32', shape: [B, H, S, D], strides: [H * S * D, D, H * D, 1] });
  const [q, dO] = [1, 2].map(seed => resident(normal([B, H, S, D], seed)));
  const [k, v] = [3, 4].map(seed => resident(normal([B, H, Skv, D], seed)));
  // The first queries see no key.
  const option = { causal: 'bottom-right', window: { left: 9 } } as const;
  const called = await sdpa(q, k, v, option);
  const [o, lse] = [byPosition(), primitives.allocate({ dtype: 'f32', shape: [B, H, S] })];
  const forward = normalise({ q, k, v }, option).problem;
  const placed = { ...forward, o: { ...forward.o, strides: o.strides as typeof forward.o.strides } };
  const work = prepareAttention?.(placed).bind?.({ q, k, v, o, lse });
  for (let round = 0; round < 3; round++) {
    for (const t of [o, lse]) t.data.fill(Number.NaN);
    work?.run();
    expect([o, lse].map(t => t.toFloat32())).toEqual([called.o, called.lse].map(t => t.toFloat32()));
  }

  const inputs = { q, k, v, o, lse, dO };
  const gradients = await sdpaBackward({ ...inputs, o: called.o, lse: called.lse }, option);
  const [dq, dk, dv] = [
    byPosition(),
    resident(normal([B, H, Skv, D], 5)),
    resident(normal([B, H, Skv, D], 6)),
  ];
  const back = normaliseBackward(inputs, option).problem;
  const backward = { ...back, dq: { ...back.dq, strides: dq.strides as typeof back.dq.strides } };
  const bound = prepareAttention?.(backward).bind?.({ ...inputs, dq, dk, dv });
  bound?.run();
  bound?.run();
  expect([dq, dk, dv].map(t => t.toFloat32())).toEqual(
    [gradients.dq, gradients.dk, gradients.dv].map(t => t.toFloat32()),
  );
  work?.release();
  bound?.release();
});

test('a step is bound without tasks if there is no memory for them', () => {
  const { primitives } = cpuEngine({ threads: 1 });
  const memory = engineKernels.residentMemory(bestVariant());
  const [from, to] = [0, 1].map(() => primitives.allocate({ dtype: 'f32', shape: [64] }));
  const prepared = primitives.prepare({ kind: 'map', value: exp(input(0)) }, [from], [to]);
  const keep = vi.spyOn(memory, 'keep').mockReturnValue(null);
  const work = prepared.bind?.([from], [to]);
  from.data.fill(1);
  work?.run();
  keep.mockRestore();
  expect(to.data[63]).toBeCloseTo(Math.E, 5);
});

test('a bound query gives the bits of a run, for the keys that its lengths count then', async () => {
  const { allocate } = cpuEngine({ threads: 1 }).primitives;
  const { prepareAttention, sdpa } = cpuEngine({ threads: 1 });
  const resident = (tensor: Tensor): Tensor => {
    const own = allocate(tensor);
    own.data.set(tensor.data);
    return own;
  };
  const [q, k, v] = [1, 40, 40].map((S, n) => resident(normal([2, 4, S, 16], n + 1)));
  const seqLensKv = resident(Tensor.from([1, 1], [2], { dtype: 'i32' }));
  const [o, lse] = [
    [2, 4, 1, 16],
    [2, 4, 1],
  ].map(shape => allocate({ dtype: 'f32', shape }));
  const { problem } = normalise({ q, k, v }, { seqLensKv });
  const work = prepareAttention?.(problem).bind?.({ q, k, v, seqLensKv, o, lse });
  expect(work).toBeTruthy();
  for (const lengths of [
    [3, 40],
    [0, 7],
    [40, 1],
  ]) {
    seqLensKv.data.set(lengths);
    work?.run();
    const expected = await sdpa(q, k, v, { seqLensKv });
    expect(o.toFloat32()).toEqual(expected.o.toFloat32());
    expect(lse.toFloat32()).toEqual(expected.lse.toFloat32());
  }
});

test('a query is not bound if its row may be absent, because no work writes the row', () => {
  const { prepareAttention, primitives, upload } = cpuEngine({ threads: 1 });
  const tensor = (shape: readonly number[]): Tensor => primitives.allocate({ dtype: 'f32', shape });
  const [q, k, v, o] = [1, 40, 40, 1].map(S => tensor([2, 4, S, 16]));
  const seqLensQ = upload(Tensor.from([1, 0], [2], { dtype: 'i32' }));
  const prepared = prepareAttention?.(normalise({ q, k, v }, { seqLensQ }).problem);
  expect(prepared?.bind?.({ q, k, v, o, seqLensQ, lse: tensor([2, 4, 1]) })).toBeNull();
});

test('tasks are written to the memory that grows for them', () => {
  const { primitives, upload } = cpuEngine({ threads: 1 });
  const memory = engineKernels.residentMemory(bestVariant());
  const [from, to] = [normal([64], 1), Tensor.zeros([64])].map(upload);
  const prepared = primitives.prepare({ kind: 'map', value: exp(input(0)) }, [from], [to]);
  prepared.run([from], [to]);
  const expected = to.toFloat32();
  to.data.fill(Number.NaN);
  const { keep } = memory;
  const filled: number[] = [];
  const spy = vi.spyOn(memory, 'keep').mockImplementation(bytes => {
    const { bytes: before } = memory;
    while (memory.bytes === before) filled.push(keep(bytes)?.at ?? 0);
    return keep(bytes);
  });
  const work = prepared.bind?.([from], [to]);
  spy.mockRestore();
  for (const at of filled) memory.free(at);
  work?.run();
  expect(to.toFloat32()).toEqual(expected);
  work?.release();
});
