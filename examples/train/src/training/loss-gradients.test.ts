import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { initialParameter, parameterSpecs } from '../model/parameters.ts';
import { writeLossGradients } from './loss-gradients.ts';

const shape = { vocabulary: 5, context: 4, layers: 2, heads: 2, dim: 4 };
const batch = 2;
const rows = batch * shape.context;

describe.each([0, 0.4])('with dropout %f', dropout => {
  const { forward, pass, loss, backward, seed } = writeLossGradients(shape, { batch, dropout });

  test('each layer is one attention partition in forward and one in backward', () => {
    const kinds = (graph: typeof backward | typeof forward.graph): string[] =>
      graph
        .partitions()
        .map(partition => partition.kind)
        .filter(kind => kind.includes('sdpa'));
    expect(kinds(forward.graph)).toEqual(['sdpa-training', 'sdpa-training']);
    expect(kinds(backward)).toEqual(['sdpa-backward', 'sdpa-backward']);
    const engine = referenceEngine();
    for (const graph of [forward.graph, backward]) {
      const calls = graph.compile(engine).partitions.filter(partition => partition.kernel === 'attention');
      expect(calls).toHaveLength(2);
    }
  });

  test('the gradients of all parameters are the slopes of the loss', async () => {
    const engine = referenceEngine();
    const specs = parameterSpecs(shape);
    const list = (f: (n: number) => number): Tensor =>
      Tensor.from(
        Array.from({ length: rows }, (_, n) => f(n)),
        [rows],
        { dtype: 'i32' },
      );
    const bindings: Record<number, Tensor | number | bigint> = {
      ...Object.fromEntries(forward.constants),
      [pass.tokens.id]: list(n => (n * n + n) % 5),
      [loss.labels.id]: list(n => (3 * n + 1) % 5),
      [loss.weights.id]: Tensor.from(
        Array.from({ length: rows }, (_, n) => (n % 3) / rows),
        [rows],
      ),
    };
    if (pass.dropout) {
      bindings[pass.dropout.seed.id] = 7n;
      for (const [n, { id }] of pass.dropout.offsets.entries()) bindings[id] = BigInt(n);
    }
    const idOf = (name: string): number => pass.parameters.get(name)?.id ?? -1;
    for (const spec of specs) bindings[idOf(spec.name)] = initialParameter(spec, 3);

    const run = forward.graph.compile(engine);
    const lossWith = async (changed: Record<number, Tensor>): Promise<number> =>
      (await run.execute({ ...bindings, ...changed }))[loss.score.id].get(0);
    const results = await run.execute(bindings);
    const gradients = await backward.compile(engine).execute({
      ...bindings,
      ...results,
      [seed.id]: Tensor.from([1], []),
    });

    for (const { name } of specs) {
      const value = bindings[idOf(name)] as Tensor;
      const gradient = gradients[backward.gradients.get(idOf(name))?.id ?? -1];
      expect(gradient.shape).toEqual(value.shape);
      for (const at of [0, Math.floor(value.size / 2) + 1]) {
        const moved = (by: number): Tensor =>
          Tensor.from(
            value.toFloat64().map((x, n) => (n === at ? x + by : x)),
            value.shape,
          );
        // Results are stored in f32, about 1e-7 of the loss: 1e-7 / h for the slope, and h² for its
        // curvature.
        const h = 3e-3;
        const [above, below] = [
          await lossWith({ [idOf(name)]: moved(h) }),
          await lossWith({ [idOf(name)]: moved(-h) }),
        ];
        const slope = (above - below) / (2 * h);
        expect(Math.abs(gradient.toFloat64()[at] - slope), `${name}[${at}]: ${slope}`).toBeLessThan(5e-4);
      }
    }
  });
});
