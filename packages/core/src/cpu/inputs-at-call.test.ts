import { fillNormal } from '@tilewise/philox';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { workerText } from '../../scripts/worker-text.mjs';
import type { Tensor } from '../tensor/tensor.ts';

const workers = vi.hoisted(() => ({ script: '', ended: 0 }));
const script = await workerText(new URL('./worker.ts', import.meta.url).pathname);
vi.mock('./threads/worker-source.ts', () => ({
  get workerSource() {
    return workers.script;
  },
}));
vi.mock('./threads/pool.ts', async importOriginal => {
  const original = await importOriginal<typeof import('./threads/pool.ts')>();
  const createPool: typeof original.createPool = (...given) => {
    const pool = original.createPool(...given);
    return {
      ...pool,
      terminate() {
        workers.ended += 1;
        pool.terminate();
      },
    };
  };
  return { ...original, createPool };
});

/** The modules as in a process that has just started: nothing is compiled, no worker runs. */
async function freshModules() {
  vi.resetModules();
  const { Tensor } = await import('../tensor/tensor.ts');
  const { normalise } = await import('../attention/call/normalise.ts');
  const { InvalidArgumentError } = await import('../errors.ts');
  const { cpuEngine } = await import('./engine.ts');
  const shape = [1, 2, 500, 64];
  const inputs = () => {
    const made = ([1, 2, 3, 4] as const).map(seed =>
      Tensor.from(fillNormal(new Float32Array(2 * 500 * 64), { seed }), shape),
    );
    const [q, k, v, dO] = made;
    return { q, k, v, dO };
  };
  return { Tensor, normalise, InvalidArgumentError, cpuEngine, inputs };
}

let fresh: Awaited<ReturnType<typeof freshModules>>;
beforeEach(async () => {
  workers.script = script;
  workers.ended = 0;
  fresh = await freshModules();
});

type Stored = Readonly<Record<string, { readonly data: ArrayLike<number> & ArrayBufferView } | undefined>>;

const bits = (results: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(results as Stored).map(([name, t]) => [
      name,
      t ? Buffer.from(new Uint8Array(t.data.buffer)).toString('base64') : '',
    ]),
  );

/** Overwrites tensors and then transfers their memory. */
function spoil(tensors: Readonly<Record<string, Tensor>>): void {
  for (const { data } of Object.values(tensors)) {
    data.fill(Number.NaN);
    structuredClone(data.buffer, { transfer: [data.buffer as ArrayBuffer] });
  }
}

describe.each([
  { on: 'one thread', threads: 1, fail: false },
  { on: 'several', threads: 2, fail: false },
  { on: 'several that fail', threads: 2, fail: true },
])('on $on', ({ threads, fail }) => {
  test('inputs are read when the call is made: the first, one that follows, and one that waits for another', async () => {
    const { cpuEngine, inputs } = fresh;
    if (fail) workers.script = 'throw new Error("no workers here")';
    const engine = cpuEngine({ threads });
    const call = () => {
      const { dO, ...given } = inputs();
      const promise = engine.sdpa(given.q, given.k, given.v);
      spoil(given);
      return promise;
    };
    const first = await call();
    const later = await Promise.all([call(), call()]);
    const { q, k, v, dO } = inputs();
    const { o, lse } = first;
    const { sdpa, sdpaBackward } = await import('./sdpa.ts');
    const expected = bits(sdpa(q, k, v));
    for (const results of [first, ...later]) expect(bits(results)).toEqual(expected);

    const gradients = bits(sdpaBackward({ q, k, v, o, lse, dO }));
    const back = { ...inputs(), ...{ o, lse } };
    const promise = engine.sdpaBackward(back);
    spoil(back);
    expect(bits(await promise)).toEqual(gradients);
    expect(workers.ended).toBe(Number(fail));
  });

  test('uploaded inputs may be released during a call, and their memory is reused afterwards', async () => {
    const { cpuEngine, inputs, Tensor } = fresh;
    if (fail) workers.script = 'throw new Error("no workers here")';
    const engine = cpuEngine({ threads });
    const { q, k, v } = inputs();
    const expected = bits(await engine.sdpa(q, k, v));
    const uploaded = [q, k, v].map(t => engine.upload(t));
    const addresses = uploaded.map(({ data }) => data.byteOffset);
    const promises = [0, 1].map(() => engine.sdpa(uploaded[0], uploaded[1], uploaded[2]));
    for (const t of uploaded) engine.release(t);
    const others = [0, 1, 2].map(() => engine.upload(Tensor.zeros(q.shape)));
    for (const results of await Promise.all(promises)) expect(bits(results)).toEqual(expected);
    for (const t of others) engine.release(t);
    const again = [0, 1, 2].map(() => engine.upload(q).data.byteOffset);
    expect(again).toEqual(addresses);
  });
});

test('an uploaded input is not overwritten during a call', async () => {
  const { cpuEngine, inputs } = fresh;
  const engine = cpuEngine({ threads: 2 });
  const { q, k, v } = inputs();
  const expected = bits(await engine.sdpa(q, k, v));
  const uploaded = engine.upload(v);
  const promise = engine.sdpa(q, k, uploaded);
  expect(engine.overwrite?.(uploaded, q)).toBe(false);
  expect(bits(await promise)).toEqual(expected);
  expect(engine.overwrite?.(uploaded, q)).toBe(true);
});

test('an input whose buffer has been transferred is refused by its name, and the workers continue', async () => {
  const { cpuEngine, inputs, InvalidArgumentError } = fresh;
  const engine = cpuEngine({ threads: 2 });
  const { q, k, v } = inputs();
  const expected = bits(await engine.sdpa(q, k, v));
  const { q: gone } = inputs();
  spoil({ gone });
  const refused = engine.sdpa(q, gone, v);
  await expect(refused).rejects.toThrow(InvalidArgumentError);
  await expect(refused).rejects.toThrow('k must have 64000 elements of storage, has 0');
  expect(bits(await engine.sdpa(q, k, v))).toEqual(expected);
  expect(workers.ended).toBe(0);
});

test('a score mod that loads from outside a tensor is refused, and the workers continue', async () => {
  const { cpuEngine, inputs, Tensor } = fresh;
  const { add, load, scoreMod } = await import('../expr/index.ts');
  const engine = cpuEngine({ threads: 2 });
  const { q, k, v } = inputs();
  const expected = bits(await engine.sdpa(q, k, v));
  const short = scoreMod(({ score, kv }) => add(score, load('table', [kv])), { table: Tensor.zeros([4]) });
  await expect(engine.sdpa(q, k, v, { scoreMod: short })).rejects.toThrow(
    'captures.table was loaded at [4], outside its shape [4]',
  );
  expect(bits(await engine.sdpa(q, k, v))).toEqual(expected);
  expect(workers.ended).toBe(0);
});

test.each([1, 2])(
  'an output whose buffer is transferred is refused by its name, before a run on %d threads and after',
  async threads => {
    const { Tensor, normalise, cpuEngine, inputs, InvalidArgumentError } = fresh;
    const engine = cpuEngine({ threads });
    const { q, k, v } = inputs();
    const expected = await engine.sdpa(q, k, v);
    const prepared = engine.prepareAttention?.(normalise({ q, k, v }).problem);
    const outputs = () => ({ o: Tensor.zeros(q.shape), lse: Tensor.zeros([1, 2, 500]) });

    const before = outputs();
    spoil({ o: before.o });
    await expect(prepared?.run({ q, k, v, ...before })).rejects.toThrow(InvalidArgumentError);
    expect(before.lse.data.every(x => x === 0)).toBe(true);

    if (threads > 1) {
      const during = outputs();
      const promise = prepared?.run({ q, k, v, ...during });
      spoil({ lse: during.lse });
      await expect(promise).rejects.toThrow('lse must have 1000 elements of storage, has 0');
      expect(during.o.data.every(x => x === 0)).toBe(true);
    }

    const after = outputs();
    await prepared?.run({ q, k, v, ...after });
    expect(bits(after)).toEqual(bits({ o: expected.o, lse: expected.lse }));
    expect(workers.ended).toBe(0);
  },
);

test('the memory of an output that is released during a run is not reused before the run ends', async () => {
  const { Tensor, normalise, cpuEngine, inputs } = fresh;
  const engine = cpuEngine({ threads: 2 });
  const { q, k, v } = inputs();
  await engine.sdpa(q, k, v);
  const prepared = engine.prepareAttention?.(normalise({ q, k, v }).problem);
  const [o, lse] = [q.shape, [1, 2, 500]].map(shape => engine.primitives.allocate({ dtype: 'f32', shape }));
  const promise = prepared?.run({ q, k, v, o, lse });
  engine.release(o);
  const other = engine.upload(Tensor.zeros(q.shape));
  await expect(promise).rejects.toThrow('o must have 64000 elements of storage, has 0');
  expect(other.data.every(x => x === 0)).toBe(true);
});
