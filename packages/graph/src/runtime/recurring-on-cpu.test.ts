import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { BoundWork, TensorEngine } from '@tilewise/core/primitive';
import { expect, test, vi } from 'vitest';
import { sines } from '../../testing/sines.ts';
import {
  add,
  attention,
  compile,
  matmul,
  multiply,
  tensorScatter,
  type Variable,
} from '../frontends/functions/index.ts';
import { Graph } from '../graph.ts';

const specs = { x: [6, 8], w: [8, 5], scale: [] } as const;
const fn = ({ x, w, scale }: Readonly<Record<keyof typeof specs, Variable>>) => {
  const h = multiply(matmul(x, w), scale);
  return [add(h, h)];
};

/** An engine whose uploads are counted. */
function counted() {
  const own = cpuEngine({ threads: 1 });
  const upload = vi.fn(own.upload);
  const engine: TensorEngine<Tensor> = { ...own, upload };
  return { engine, upload };
}

/** The results of an engine that has not run anything. */
async function expectedOf(inputs: Readonly<Record<'x' | 'w' | 'scale', Tensor>>): Promise<number[]> {
  const [y] = await compile(cpuEngine({ threads: 1 }), fn, specs)(inputs);
  return [...y.toFloat32()];
}

test('host tensors and numbers are uploaded once, and read anew in every run', async () => {
  const { engine, upload } = counted();
  const run = compile(engine, fn, specs);
  const [x, w, scale] = [sines([6, 8], 1), sines([8, 5], 2), Tensor.from([0.5], [])];
  for (const round of [0, 1, 2, 3]) {
    // Sometimes the same objects with other numbers, and sometimes other objects.
    x.data.set(sines([6, 8], round).data);
    scale.data[0] = 0.25 * (round + 1);
    const given = { x: round === 2 ? sines([6, 8], 9) : x, w, scale };
    // A number may take the place of a tensor without dimensions.
    const [y] = await run(round % 2 === 0 ? given : { ...given, scale: scale.data[0] });
    expect([...y.toFloat32()]).toEqual(await expectedOf(given));
  }
  expect(upload).toHaveBeenCalledTimes(3);
  run.release();
});

test("the caller's own tensors of the engine are used in place, and never overwritten or released", async () => {
  const { engine } = counted();
  const run = compile(engine, fn, specs);
  const [w, scale] = [sines([8, 5], 2), Tensor.from([0.5], [])];
  const own = [1, 2].map(seed => engine.upload(sines([6, 8], seed)));
  const given = [own[0], sines([6, 8], 3), own[1], sines([6, 8], 4), own[0]];
  for (const x of given) {
    const [y] = await run({ x, w, scale });
    expect([...y.toFloat32()]).toEqual(await expectedOf({ x, w, scale }));
  }
  run.release();
  own.forEach((tensor, n) => {
    expect(tensor.toFloat32()).toEqual(sines([6, 8], n + 1).toFloat32());
  });
});

/** An engine that counts the works that it joins, and their runs. */
function joining() {
  const own = cpuEngine({ threads: 1 });
  const runs = vi.fn();
  const join = vi.fn((works: readonly BoundWork[]): BoundWork | null => {
    const work = own.primitives.join?.(works);
    if (!work) return null;
    const run = (): void => {
      runs();
      work.run();
    };
    return { ...work, run };
  });
  const engine: TensorEngine<Tensor> = { ...own, primitives: { ...own.primitives, join } };
  return { engine, join, runs };
}

test('when all tensors recur, the engine runs all steps at once, with attention among them', async () => {
  const { engine, join, runs } = joining();
  const shape = [1, 2, 12, 8] as const;
  const attend = ({ q, k, v }: Readonly<Record<'q' | 'k' | 'v', Variable>>) => [
    add(attention(multiply(q, q), k, v), v),
  ];
  const run = compile(engine, attend, { q: shape, k: shape, v: shape });
  const upload = (seed: number): Tensor => engine.upload(sines([24, 8], seed).reshape(shape));
  const sets = [1, 5].map(seed => ({ q: upload(seed), k: upload(seed + 1), v: upload(seed + 2) }));
  const y = engine.primitives.allocate({ dtype: 'f32', shape });
  for (const [n, inputs] of [...new Array(5).fill(sets[0]), ...new Array(5).fill(sets[1])].entries()) {
    y.data.fill(Number.NaN);
    await run(inputs, [y]);
    const [expected] = await compile(cpuEngine({ threads: 1 }), attend, { q: shape, k: shape, v: shape })(
      inputs,
    );
    expect(y.toFloat32(), `run ${n}`).toEqual(expected.toFloat32());
  }
  expect(join).toHaveBeenCalledTimes(2);
  expect(runs.mock.calls.length).toBeGreaterThan(3);
  run.release();
});

test('a step of a decoder runs at once: it adds to its cache in place, and attends to the tokens so far', async () => {
  const { engine, runs } = joining();
  const [own, cache] = [
    [1, 2, 1, 8],
    [1, 2, 6, 8],
  ] as const;
  const i32 = { dtype: 'i32', shape: [1] } as const;
  const specs = { q: own, k: own, v: own, kCache: cache, vCache: cache, first: i32, counts: i32 };
  const decode = ({
    q,
    k,
    v,
    kCache,
    vCache,
    first,
    counts,
  }: Readonly<Record<keyof typeof specs, Variable>>) => {
    const keys = tensorScatter(kCache, k, first, { axis: 2 });
    const values = tensorScatter(vCache, v, first, { axis: 2 });
    return [attention(q, keys, values, { seqLensKv: counts }), keys, values];
  };
  const run = compile(engine, decode, specs);
  const [kCache, vCache] = [0, 1].map(() => engine.primitives.allocate({ dtype: 'f32', shape: cache }));
  const inputs = { q: Tensor.zeros(own), k: Tensor.zeros(own), v: Tensor.zeros(own) };
  const [first, counts] = [0, 1].map(x => Tensor.from([x], [1], { dtype: 'i32' }));
  const o = engine.primitives.allocate({ dtype: 'f32', shape: own });
  for (let token = 0; token < 6; token++) {
    for (const [n, tensor] of Object.values(inputs).entries())
      tensor.data.set(sines([2, 8], 3 * token + n).data);
    first.data[0] = token;
    counts.data[0] = token + 1;
    await run({ ...inputs, kCache, vCache, first, counts }, [o, kCache, vCache]);
    const seen = [kCache, vCache].map(t => t.slice(2, 0, token + 1));
    const expected = await engine.sdpa(inputs.q, seen[0], seen[1]);
    expect(o.toFloat32(), `token ${token}`).toEqual(expected.o.toFloat32());
  }
  expect(runs.mock.calls.length).toBeGreaterThan(2);
  run.release();
});

test('a tensor that is released after several runs is refused by its name, and nothing is written', async () => {
  const engine = cpuEngine({ threads: 1 });
  const g = new Graph();
  const [x, y, z] = [1, 2, 3].map(() => g.tensor({ dtype: 'f32', shape: [4, 4] }));
  g.op('MatMul', { inputs: [x, y], outputs: [z] });
  const compiled = g.finalize().compile(engine);
  const upload = (seed: number): Tensor => engine.upload(sines([4, 4], seed));
  for (const released of [x, z]) {
    const bindings: Record<number, Tensor> = { [x.id]: upload(1), [y.id]: upload(2), [z.id]: upload(3) };
    for (let n = 0; n < 3; n++) await compiled.execute(bindings);
    engine.release(bindings[released.id]);
    const next = upload(4);
    await expect(compiled.execute(bindings)).rejects.toThrow(
      `tensor ${released.id} must have 16 elements of storage, has 0: it was released`,
    );
    expect(next.toFloat32()).toEqual(sines([4, 4], 4).toFloat32());
  }
});
