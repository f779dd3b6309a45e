import { dtypeInfo, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { checkGraph } from '../graph/check-graph.ts';
import type { Graph } from '../graph/graph.ts';
import { denseDesc, resolveShapes, writeOperations } from '../partition/compile.ts';
import { compiledPartition } from '../partition/compiled-partition.ts';
import { checkEngine, withKnown } from '../partition/partition.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import type { Bindings } from './bindings.ts';
import { checkIds } from './check-ids.ts';
import { type Bindable, knownTensor } from './storage.ts';

/**
 * Runs a finalized graph operation by operation, with intermediate floats in f32 whatever their dtype says: what the graph means
 * when nothing is rounded but its results. This is what a fused partition is to be compared with, since it does not store its
 * intermediates.
 * @returns the graph's outputs by id.
 * @throws InvalidArgumentError for another kind of argument; else as `execute` of a compiled graph.
 */
export async function runUnrounded<T extends TensorDesc>(
  graph: Graph,
  engine: TensorEngine<T>,
  bindings: Bindings<Bindable<T>>,
): Promise<Record<number, T>> {
  checkGraph('graph', graph);
  checkEngine(engine);
  const { topology } = graph;
  checkIds(bindings, topology.described, topology);
  const known = Object.fromEntries(topology.inputs.map(t => [t.id, knownTensor(t, bindings[t.id])]));
  const group = {
    nodes: topology.order,
    inputs: withKnown('inputs', topology.inputs, known),
    outputs: topology.outputs,
  };
  const tensors = resolveShapes(group);
  const program = writeOperations(group, tensors, unrounded);
  const compiled = compiledPartition(
    engine,
    { program, kernel: 'operations', reasons: [], tensors },
    group.inputs,
    group.outputs,
  );
  try {
    return await compiled.execute(bindings);
  } finally {
    compiled.release();
  }
}

function unrounded(tensor: LogicalTensor): TensorDesc {
  const desc = denseDesc(tensor);
  const { kind, bytes } = dtypeInfo[desc.dtype];
  return kind === 'float' && bytes === 2 ? { ...desc, dtype: 'f32' } : desc;
}
