import { TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { processorTime } from '@tilewise/test-data';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../testing/attention/attention-graph.ts';
import { mutated } from '../testing/mutate.ts';
import { Choices } from '../testing/random/choices.ts';
import { sdpa } from './frontends/cudnn/index.ts';
import { gradients } from './gradients.ts';
import { Graph } from './graph.ts';
import { isKnown } from './ir/tensor/logical-tensor.ts';
import { operations } from './ops/table.ts';

const engine = cpuEngine({ threads: 1 });
const MAX_ELEMENTS = 1e5;
const { seed, count, timeout } = fuzzRun(1500, 1);

/** Runs a call that may throw only our errors, and that must take at most 2 s. */
function attempt<R>(what: string, call: () => R): R | undefined {
  const start = processorTime();
  try {
    return call();
  } catch (error) {
    if (!(error instanceof TilewiseError)) throw new Error(`${what}: ${error}`, { cause: error });
    return undefined;
  } finally {
    expect(processorTime() - start, what).toBeLessThan(2000);
  }
}

/** Does everything with an accepted graph: connects, partitions, writes, differentiates and compiles it. */
function use(graph: Graph, what: string): void {
  if (!attempt(what, () => graph.finalize())) return;
  attempt(what, () => graph.partitions());
  attempt(what, () => Graph.fromJSON(JSON.stringify(graph)).finalize());
  const { tensors, inputs, outputs } = graph.topology;
  attempt(what, () =>
    gradients(graph, { of: outputs, withRespectTo: inputs.filter(t => t.dtype === 'f32') }),
  );
  const shapes = [...tensors.keys()].map(id => attempt(what, () => graph.topology.shapeOf(id)));
  const isSmall = shapes.every(
    shape => shape && isKnown(shape) && shape.reduce((n, extent) => n * extent, 1) < MAX_ELEMENTS,
  );
  if (isSmall) attempt(what, () => graph.compile(engine))?.release();
}

/** Graphs as JSON: attention as several operations and as one, layouts, norms and quantization. */
function examples(): unknown[] {
  const composite = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => composite.input([1, 2, 5, 8]));
  sdpa(composite.graph, {
    q,
    k,
    v,
    implementation: 'composite',
    generateStats: true,
    diagonalBandRightBound: 0,
  });
  const unified = new GraphBuilder();
  const [uq, uk, uv, bias] = [0, 1, 2, 3].map(n => unified.input([1, 2, 5, n === 3 ? 5 : 8]));
  const { o } = sdpa(unified.graph, { q: uq, k: uk, v: uv, bias, attnScale: 0.5, generateStats: true });
  unified.op('Square', [o]);
  const others = new GraphBuilder();
  const x = others.input([2, 3, 4]);
  const moved = others.op('StaticTranspose', [x], { order: [0, 2, 1] });
  const shaped = others.op('StaticReshape', [moved], { shape: [4, -1], special_zero: false });
  const normal = others.op('LayerNorm', [shaped], { epsilon: 0.1 });
  const coded = others.op('Quantize', [normal], { scales: [0.1], zps: [3] }, 'u8');
  const back = others.op('Dequantize', [coded], { scales: [0.1], zps: [3] });
  others.op('ReduceMean', [others.op('Clamp', [back], { min: 0, max: 1 })], { axes: [-1] });
  return [composite, unified, others].map(({ graph }) => JSON.parse(JSON.stringify(graph)));
}

test(`${count} mutations of stored graphs of seed ${seed} are refused with an error of ours, or are graphs`, {
  timeout,
}, () => {
  const choose = new Choices(seed);
  const graphs = examples();
  let taken = 0;
  for (let n = 0; n < count; n++) {
    let json = graphs[n % graphs.length];
    for (let times = 1 + choose.below(2); times > 0; times--) json = mutated(json, choose);
    const what = `mutation ${n}`;
    const graph = attempt(what, () => Graph.fromJSON(json as never));
    if (!graph) continue;
    taken++;
    use(graph, what);
  }
  expect([taken > count / 10, taken < 0.9 * count], `${taken} taken`).toEqual([true, true]);
});

test(`${count} mutations of operations of seed ${seed} are refused with an error of ours, or are graphs`, {
  timeout,
}, () => {
  const choose = new Choices(seed + 1);
  let taken = 0;
  for (let n = 0; n < count; n++) {
    const { kind, attributes, inputs, outputs } = operations[n % operations.length];
    const g = new Graph();
    const what = `mutation ${n} of ${kind}`;
    const tensors = (ports: typeof inputs) =>
      ports.map(({ among }) => g.tensor({ dtype: among[0], shape: [2, 2].slice(choose.below(3)) }));
    const attrs = Object.fromEntries(
      Object.entries(attributes).flatMap(([name, { type, among, default: standard }]) => {
        const typical = { bool: true, s64: 1, 's64[]': [0], f32: 0.5, 'f32[]': [1], string: 'q k v' }[type];
        return choose.below(2) ? [[name, among?.[0] ?? standard ?? typical]] : [];
      }),
    );
    const options = mutated({ attrs, inputs: tensors(inputs), outputs: tensors(outputs) }, choose);
    if (!attempt(what, () => g.op(kind as 'Exp', options as never))) continue;
    taken++;
    use(g, what);
  }
  expect([taken > count / 10, taken < 0.9 * count], `${taken} taken`).toEqual([true, true]);
});
