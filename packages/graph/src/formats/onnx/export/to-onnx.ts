import { checkObject } from '@tilewise/core';
import { groupOperations } from '../../../compile/partition.ts';
import { UnsupportedOperationError } from '../../../errors.ts';
import type { Graph } from '../../../graph.ts';
import { checkGraph } from '../../../ir/check-graph.ts';
import { describeNode, type GraphNode } from '../../../ir/node.ts';
import { describeTensor, type LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../../ir/topology.ts';
import { encodeModel, type OnnxModel, type OnnxValue } from '../model.ts';
import { attentionForm } from './attention/attention.ts';
import { attentionOperation } from './attention/sdpa.ts';
import { elementwise } from './elementwise.ts';
import { indexing } from './indexing.ts';
import { layout } from './layout.ts';
import { quantization } from './quantization.ts';
import { reductions } from './reductions.ts';
import type { Translations } from './translation.ts';
import { elementType, OnnxWriter } from './writer.ts';

/** Every operation that ONNX has a form of. */
export const translations: Translations = {
  ...elementwise,
  ...layout,
  ...indexing,
  ...reductions,
  ...quantization,
  Sdpa: attentionOperation,
  End: () => {},
};

/**
 * An inference graph as an ONNX model of operator set 23. Attention is the operation `Attention` where that means the same; all else is
 * plain operations. The tensor of id n is called `tn`, of inputs and outputs too; strides are left out, and extents that are not
 * known have names. Rounding to 16 bits is that of the operations of ONNX.
 * @param graph which is finalized, if it is not yet.
 * @returns the file: protobuf, the numbers of constants within.
 * @throws UnsupportedOperationError naming an operation that has no form in ONNX (random numbers, gradients, what only an attention
 * operation can say); InvalidGraphError as `finalize`; InvalidArgumentError for what is no graph or no options.
 */
export function toOnnx(graph: Graph, options: { readonly name?: string | undefined } = {}): Uint8Array {
  checkGraph('graph', graph);
  checkObject('options', options);
  const { name = 'tilewise' } = options;
  const { topology } = graph.finalize();
  const write = new OnnxWriter(topology);
  for (const nodes of groups(topology)) writeGroup(nodes, topology, write);
  const value = (tensor: LogicalTensor): OnnxValue => ({
    name: write.name(tensor),
    type: typeOf(tensor),
    shape: topology.shapeOf(tensor.id),
  });
  return encodeModel({
    name,
    ...reached(write, new Set(topology.outputs.map(t => write.name(t)))),
    inputs: topology.inputs.map(value),
    outputs: topology.outputs.map(value),
  });
}

/** What outputs need: numbers that became attributes are not nodes any more. */
function reached(write: OnnxWriter, needed: Set<string>): Pick<OnnxModel, 'nodes' | 'initializers'> {
  const nodes = [...write.nodes].reverse().filter(node => {
    const isNeeded = node.outputs.some(output => needed.has(output));
    if (isNeeded) for (const input of node.inputs) needed.add(input);
    return isNeeded;
  });
  return {
    nodes: nodes.reverse(),
    initializers: write.initializers.filter(({ name }) => needed.has(name)),
  };
}

function typeOf(tensor: LogicalTensor): number {
  const type = elementType(tensor.dtype);
  if (type === undefined) {
    throw new UnsupportedOperationError(
      `that reads or gives tensor ${describeTensor(tensor)}`,
      'has a tensor without a dtype',
    );
  }
  return type;
}

/** The operations in an order in which they can run, those of a partition together. */
function groups(topology: Topology): GraphNode[][] {
  return groupOperations(topology, 'fusion').map(({ nodes }) => [...nodes]);
}

/** Writes the operations of a partition: attention as one where it can be. */
function writeGroup(nodes: readonly GraphNode[], topology: Topology, write: OnnxWriter): void {
  const members = new Set(nodes);
  const forms = nodes.map(node => attentionForm(node, topology));
  const attention = forms.find(form => form && [...form.nodes].every(node => members.has(node)));
  const last = attention && nodes.filter(node => attention.nodes.has(node)).at(-1);
  for (const node of nodes) {
    if (node === last) attention?.write(write);
    if (attention?.nodes.has(node)) continue;
    const translate = Object.hasOwn(translations, node.kind) ? translations[node.kind] : undefined;
    if (!translate) throw new UnsupportedOperationError(describeNode(node), 'has no form in ONNX');
    translate(node, write);
  }
}
