import { dtypeInfo, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { denseDesc, resolveShapes, writeOperations } from '../compile/compile.ts';
import { checkGraph } from '../ir/check-graph.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import type { Topology } from '../ir/topology.ts';
import { type Bindable, knownTensors } from './bindings/bindable.ts';
import type { Bindings } from './bindings/bindings.ts';
import { checkIds } from './bindings/check-ids.ts';
import { withKnown } from './partitions/boundary-tensors.ts';
import { executeOnce } from './partitions/compiled-partition.ts';
import { checkEngine } from './partitions/partition.ts';
import { sharedPartition } from './partitions/shared-partition.ts';

/**
 * Runs a finalized graph operation by operation, with intermediate floats in f32 regardless of their dtype,
 * so that only the results are rounded. Compare a fused partition with these results, because it does not
 * store (and round) its intermediates.
 * @returns the graph's outputs by id.
 * @throws InvalidArgumentError for an argument of the wrong type; the errors of a compiled graph's `execute`.
 */
export async function runInF32<T extends TensorDesc>(
  graph: { readonly topology: Topology },
  engine: TensorEngine<T>,
  bindings: Bindings<Bindable<T>>,
): Promise<Record<number, T>> {
  checkGraph('graph', graph);
  checkEngine(engine);
  const { topology } = graph;
  checkIds(bindings, topology.described, topology);
  const group = {
    nodes: topology.order,
    inputs: withKnown('inputs', topology.inputs, knownTensors(topology.inputs, bindings)),
    outputs: topology.outputs,
  };
  const tensors = resolveShapes(group);
  const program = writeOperations(group, tensors, inF32);
  const compiled = { program, kernel: 'operations', reasons: [], tensors } as const;
  return executeOnce(sharedPartition(engine, compiled, group), bindings);
}

function inF32(tensor: LogicalTensor): TensorDesc {
  const desc = denseDesc(tensor);
  const { kind, bytes } = dtypeInfo[desc.dtype];
  return kind === 'float' && bytes === 2 ? { ...desc, dtype: 'f32' } : desc;
}
