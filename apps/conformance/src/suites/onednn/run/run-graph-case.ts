import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { referenceEngine } from '@tilewise/core/reference';
import {
  Graph,
  type GraphNode,
  inferShapes,
  type LogicalTensor,
  runInF32,
  storageDesc,
} from '@tilewise/graph';
import type { Outcome } from '../../../cases/case.ts';
import { type GraphCase, readGraph } from '../rewrite/case-file.ts';
import { rewrite } from '../rewrite/rewrite.ts';
import { compare, type Difference, isClose, isTrusted, joined, largestOf, normOf } from './compare.ts';
import { drawnEntries, entriesOf, type Part, type TensorsById } from './entries.ts';
import { withExactProducts } from './exact-products.ts';
import { fill } from './fill.ts';
import { gateOf } from './gate.ts';
import { type Role, roleOf } from './roles.ts';

/**
 * Runs a case: its graph must be split into the expected number of supported partitions, and these must
 * compute what its operations compute one by one on the reference, by benchdnn's rules.
 * @param work the work of the case, and how much the reference may compute, unlimited by default. If the case
 * takes more, some entries of its batch are drawn, at least one; the other entries only have to be finite. A
 * graph without a batch is compared in full.
 */
export async function runGraphCase<T extends TensorDesc>(
  graphCase: GraphCase,
  graphs: string,
  engine: TensorEngine<T>,
  work: { readonly gflop: number; readonly most: number } = { gflop: 0, most: Infinity },
): Promise<Outcome> {
  if (graphCase.notUnderstood !== undefined) return failed(graphCase.notUnderstood);
  const stored = rewrite(readGraph(graphs, graphCase), graphCase);
  const graph = Graph.fromJSON(stored).finalize();
  const partitions = graph.partitions();
  const expectedCount = Number(graphCase['expected-n-partitions'] ?? 1);
  if (expectedCount > 0 && partitions.length !== expectedCount) {
    return failed(
      `${partitions.length} partitions (${partitions.map(p => p.kind).join(', ')}), expected ${expectedCount}`,
    );
  }
  const idle = partitions.find(partition => !partition.supported);
  if (idle) return failed(`partition ${idle.id} of operations ${idle.ops.join(', ')} is not supported`);

  const inputs = await fillInputs(graph);
  const known: Record<number, Tensor | T> = { ...inputs };
  const kernels: string[] = [];
  for (const partition of partitions) {
    const compiled = partition.compile(engine, {
      inputs: Object.fromEntries(partition.inputs.map(t => [t.id, shapeOf(t, known[t.id])])),
    });
    kernels.push([partition.kind, compiled.kernel, ...compiled.reasons].join(' '));
    Object.assign(known, await compiled.execute(known));
    compiled.release();
  }
  const results: Record<number, Tensor> = {};
  for (const t of graph.outputs) results[t.id] = await engine.download(known[t.id] as T);
  for (const tensor of Object.values(known)) if (!(tensor instanceof Tensor)) engine.release(tensor);

  const entries = drawnEntries(graph, work.gflop, work.most);
  const parts = entries ? entriesOf(stored, graph, entries, inputs, results) : [{ graph, inputs, results }];
  const told = entries
    ? [...kernels, `${entries.drawn.length} of ${entries.batch.extent} entries compared`]
    : kernels;
  const fault = entries && notFinite(results);
  if (fault) return failed(`${fault} (${told.join('; ')})`);
  let outcome = failed('nothing was compared');
  for (const run of references) {
    outcome = await compareParts(parts, run, told);
    if (outcome.status === 'pass') return outcome;
  }
  return outcome;
}

type Reference = (part: Part) => Promise<TensorsById>;

// A fused partition does not round tensors that it does not store; single operations do, as in benchdnn's
// reference.
const references: readonly Reference[] = [
  ({ graph, inputs }) => runInF32(graph, referenceEngine(), inputs),
  ({ graph, inputs }) => graph.run(referenceEngine(), inputs, { policy: 'debug' }),
];

/** Compares parts with their results on the reference; the parts of a tensor count as one. */
async function compareParts(
  parts: readonly Part[],
  run: Reference,
  told: readonly string[],
): Promise<Outcome> {
  const expected: TensorsById[] = [];
  // The unrounded product identifies a result that fell to the other side of a tie.
  for (const part of parts) expected.push(await run({ ...part, graph: withExactProducts(part.graph) }));
  const [{ graph }] = parts;
  const differences = graph.outputs.map(({ id, dtype }): [number, Difference] => {
    const producer = graph.topology.producers.get(id);
    const output = producer?.outputs.findIndex(o => o.id === id) ?? 0;
    const gate = gateOf(producer, output, dtype, graph.nodes);
    const largest = Math.max(...expected.map(tensors => largestOf(tensors[id])));
    const each = parts.map(({ results }, n) => compare(results[id], expected[n][id], gate, largest));
    return [id, each.reduce(joined)];
  });
  return outcomeOf(graph, differences, told);
}

function notFinite(results: TensorsById): string | null {
  for (const [id, t] of Object.entries(results)) {
    const at = t.toFloat32().findIndex(x => !Number.isFinite(x));
    if (at >= 0) return `tensor ${id} is not finite at element ${at}`;
  }
  return null;
}

function outcomeOf(
  { topology }: Graph,
  differences: readonly (readonly [tensor: number, Difference])[],
  kernels: readonly string[],
): Outcome {
  if (differences.length === 0) return failed('nothing was compared');
  let worst = 0;
  // The result is right, but with such data that says little: benchdnn has a status of its own for this,
  // which is not a failure either.
  const mistrusted: string[] = [];
  for (const [id, difference] of differences) {
    const kind = topology.producers.get(id)?.kind;
    const norm = normOf(difference);
    worst = Math.max(worst, norm);
    const { failing, total, zeros, worst: point } = difference;
    if (!isClose(difference)) {
      const text = `tensor ${id} of ${kind}: ${failing} of ${total} elements, norm ${norm.toPrecision(3)}; ${point}`;
      return { status: 'fail', error: norm, reason: `${text} (${kernels.join('; ')})` };
    }
    if (!isTrusted(kind, difference)) {
      mistrusted.push(`mistrusted: tensor ${id} of ${kind} has ${zeros} zeros of ${total} elements`);
    }
  }
  return { status: 'pass', error: worst, reason: [...kernels, ...mistrusted].join('; ') };
}

function failed(reason: string): Outcome {
  return { status: 'fail', error: null, reason };
}

function shapeOf({ dtype }: LogicalTensor, { shape, strides }: TensorDesc) {
  return dtype === 'i64' ? { shape: shape.slice(0, -1) } : { shape, strides };
}

async function fillInputs(graph: Graph): Promise<Record<number, Tensor>> {
  const shapes = inferShapes(graph.topology.order, new Map());
  const inputs: Record<number, Tensor> = {};
  const later: { readonly t: LogicalTensor; readonly subtract: GraphNode }[] = [];
  for (const t of graph.inputs) {
    const role = roleOf(t, graph);
    const desc = storageDesc({ ...t, shape: shapes.get(t.id) ?? t.shape });
    if (role.kind === 'stats') later.push({ t, subtract: role.subtract });
    else if (role.kind === 'extent') {
      const like = shapes.get(role.like.id) ?? [];
      inputs[t.id] = Tensor.from([like.at(role.of === 'queries' ? -2 : -1) ?? 0], desc.shape, {
        dtype: desc.dtype,
      });
    } else {
      inputs[t.id] = fill(t, desc, role, depthOf(role, shapes));
    }
  }
  for (const { t, subtract } of later)
    inputs[t.id] = await statsOf(graph, subtract, inputs, storageDesc(t).strides);
  return inputs;
}

/** How many elements of the role's input contribute to one element of its result. */
function depthOf(role: Role, shapes: ReadonlyMap<number, readonly number[] | null>): number {
  if (role.kind === 'matmul') {
    const { inputs, attributes } = role.matmul;
    return (shapes.get(inputs[0].id) ?? []).at(attributes.transpose_a ? -2 : -1) ?? 1;
  }
  if (role.kind === 'factor') {
    const { inputs, attributes } = role.product;
    const extents = shapes.get(inputs[0].id) ?? [];
    return (attributes.axes as readonly number[]).reduce((n, axis) => n * (extents.at(axis) ?? 1), 1);
  }
  return 1;
}

/** max + ln Σ e^(x − max) of the scores from which an operation subtracts stats. */
async function statsOf(
  graph: Graph,
  subtract: GraphNode,
  bindings: Readonly<Record<number, Tensor>>,
  strides: readonly number[],
): Promise<Tensor> {
  const scores = subtract.inputs[0];
  const part = new Graph(graph.header, graph.inputs);
  for (const node of graph.topology.order) {
    if (isNeeded(node, scores.id, graph)) part.add({ ...node, attrs: node.given });
  }
  const p = part.tensor({ dtype: 'f32' });
  const stats = part.tensor({ dtype: 'f32' });
  part.op('SoftMax', { attrs: { axis: -1, mode: 'inf_as_zero' }, inputs: [scores], outputs: [p, stats] });
  const dense = (await part.run(referenceEngine(), bindings, { policy: 'debug' }))[stats.id];
  return Tensor.from(dense.toFloat64(), dense.shape, { strides });
}

function isNeeded(node: GraphNode, tensor: number, graph: Graph): boolean {
  const producer = graph.topology.producers.get(tensor);
  if (producer === undefined) return false;
  return producer === node || producer.inputs.some(t => isNeeded(node, t.id, graph));
}
