import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import type { OneDnnGraph } from '../../src/formats/json/format.ts';
import { Graph } from '../../src/graph.ts';
import { Choices } from '../random/choices.ts';

type Bindings = Readonly<Record<number, Tensor | number | bigint>>;

const RUNS = 8;

/** Four roundings of a number of size 1 in f32. */
const NOISE = 4 * 2 ** -24;

/**
 * How much rounding may change the outputs of a graph: the largest change of a finite number of each output,
 * by the id of the output, over eight runs on the reference in which the result of each operation is off by
 * up to four roundings of the largest number that the operation reads or writes.
 */
export async function roundingChanges(graph: Graph, bindings: Bindings): Promise<Record<number, number>> {
  const json = JSON.parse(JSON.stringify(graph)) as OneDnnGraph;
  const exact = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
  const changes: Record<number, number> = {};
  for (let run = 1; run <= RUNS; run++) {
    const inexact = await runInexactly(json, bindings, new Choices(run));
    for (const [id, tensor] of Object.entries(exact)) {
      const found = inexact[Number(id)].toFloat64();
      const change = largest(tensor.toFloat64().map((x, n) => found[n] - x));
      changes[Number(id)] = Math.max(changes[Number(id)] ?? 0, change);
    }
  }
  return changes;
}

/** Runs the operations one by one, each in a graph of its own, and adds noise to their results. */
async function runInexactly(
  json: OneDnnGraph,
  bindings: Bindings,
  choose: Choices,
): Promise<Record<number, Tensor>> {
  const values: Record<number, Tensor | number | bigint> = { ...bindings };
  const results: Record<number, Tensor> = {};
  for (const op of json.graph) {
    const inputs = Object.fromEntries(op.inputs.map(({ id }) => [id, values[id]]));
    const outputs = op.outputs.map(({ id }) => id);
    const single = Graph.fromJSON({
      ...json,
      input_ports: op.inputs.map(({ id }) => id),
      output_ports: outputs,
      graph: [op],
    });
    const written = await single.run(referenceEngine(), inputs, { policy: 'debug' });
    const read = Object.values(inputs).map(x => (typeof x === 'object' ? largest(x.toFloat64()) : 0));
    for (const id of outputs) {
      const scale = NOISE * Math.max(...read, largest(written[id].toFloat64()));
      values[id] = results[id] = withNoise(written[id], scale, choose);
    }
  }
  return results;
}

/** Adds up to `scale` to each number of a tensor of floats. Other tensors are exact. */
function withNoise(tensor: Tensor, scale: number, choose: Choices): Tensor {
  if (tensor.dtype !== 'f32') return tensor;
  const values = tensor.toFloat64().map(x => x + scale * (choose.below(2001) / 1000 - 1));
  return Tensor.from(values, tensor.shape);
}

function largest(values: Float64Array): number {
  return values.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
}
