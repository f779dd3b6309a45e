import {
  checkObject,
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  Tensor,
} from '@tilewise/core';
import { groupOperations } from '../../../compile/partition.ts';
import { UnsupportedOperationError } from '../../../errors.ts';
import type { Graph } from '../../../graph.ts';
import { checkGraph } from '../../../ir/check-graph.ts';
import { checkNames } from '../../../ir/check-names.ts';
import type { GraphNode } from '../../../ir/node.ts';
import { storageDType } from '../../../ir/tensor/dtype.ts';
import { describeTensor, type LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { admits } from '../../../ir/tensor/shape.ts';
import type { Topology } from '../../../ir/topology.ts';
import { type ById, mapById } from '../../given-map.ts';
import { encodeModel, type ModelContents, type OnnxValue } from '../model.ts';
import { attentionForm } from './attention/attention.ts';
import { attentionOperation } from './attention/sdpa.ts';
import { elementwise } from './elementwise.ts';
import { indexing } from './indexing.ts';
import { layout } from './layout.ts';
import { quantization } from './quantization.ts';
import { reductions } from './reductions.ts';
import type { Translations } from './translation.ts';
import { elementType, OnnxWriter } from './writer.ts';

/** The translations of all operations that ONNX can express. */
export const translations: Translations = {
  ...elementwise,
  ...layout,
  ...indexing,
  ...reductions,
  ...quantization,
  Sdpa: attentionOperation,
  End: () => {},
};

/** The options of `toOnnx`. */
export interface ToOnnxOptions {
  /** The name of the model's graph. Default: `'tilewise'`. */
  readonly name?: string | undefined;
  /**
   * Tensors, such as weights, by the ids of inputs, in an object or a Map. The model contains these tensors
   * instead of taking the inputs.
   */
  readonly values?: ById<Tensor> | undefined;
  /**
   * The names of tensors by id, such as those in the model that the graph was read from. Default: `tn` for id
   * n.
   */
  readonly names?: Readonly<Record<number, string>> | undefined;
}

/**
 * Exports an inference graph as an ONNX model of operator set 25. Attention becomes the operator `Attention`
 * if that has the same meaning; everything else becomes plain operators. Strides are dropped, and unknown
 * extents get names. ONNX's operators determine when results are rounded to 16 bits.
 * @param graph the graph, which is finalized if necessary.
 * @returns the file in protobuf, which includes the numbers of constants.
 * @throws UnsupportedOperationError naming an operation that has no equivalent in ONNX (random numbers,
 * gradients, and features that only attention operations have); the InvalidGraphError of `finalize`;
 * InvalidShapeError for shapes that contradict each other; InvalidArgumentError for invalid arguments.
 */
export function toOnnx(graph: Graph, options: ToOnnxOptions = {}): Uint8Array<ArrayBuffer> {
  checkGraph('graph', graph);
  checkNames('options', options, ['name', 'values', 'names']);
  const { name = 'tilewise', values, names = {} } = options;
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgumentError(
      'options.name',
      `must be a string that is not empty, got ${describeValue(name)}`,
    );
  const held = mapById('options.values', values);
  checkObject('options.names', names);
  checkTensorNames(names);
  const { topology } = graph.finalize();
  // Throws if the shapes contradict each other.
  topology.shapes();
  const write = new OnnxWriter(topology, names);
  for (const id of Object.keys(names)) {
    if (!topology.tensors.has(Number(id)))
      throw new InvalidArgumentError(`options.names.${id}`, 'is not a tensor of the graph');
  }
  for (const [id, tensor] of held) {
    const input = topology.inputs.find(t => t.id === id);
    if (!input) throw new InvalidArgumentError(`options.values.${id}`, 'is not an input of the graph');
    checkStorage(`options.values.${id}`, input, tensor);
    write.hold(input, tensor);
  }
  for (const { nodes } of groupOperations(topology, 'fusion')) writeGroup(nodes, topology, write);
  const value = (tensor: LogicalTensor): OnnxValue => ({
    name: write.name(tensor),
    type: typeOf(tensor),
    shape: topology.shapeOf(tensor.id),
  });
  return encodeModel({
    name,
    ...reached(write, new Set(topology.outputs.map(t => write.name(t)))),
    inputs: topology.inputs.filter(({ id }) => !held.has(id)).map(value),
    outputs: topology.outputs.map(value),
  });
}

/** The nodes that outputs need, without constants that became attributes. */
function reached(write: OnnxWriter, needed: Set<string>): Pick<ModelContents, 'nodes' | 'initializers'> {
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

/**
 * Checks that names differ from each other and from generated names, which are a letter or an operator and a
 * number.
 */
function checkTensorNames(names: Readonly<Record<number, string>>): void {
  const taken = new Set<string>();
  for (const [id, name] of Object.entries(names)) {
    const rule =
      typeof name !== 'string' || name === ''
        ? `must be a name, got ${describeValue(name)}`
        : taken.has(name)
          ? `is '${name}', which names another tensor too`
          : /^([tc]|[A-Z]\w*_)\d+$/.test(name)
            ? `is '${name}', which is reserved for tensors without a name`
            : null;
    if (rule !== null) throw new InvalidArgumentError(`options.names.${id}`, rule);
    taken.add(name);
  }
}

/** Checks that a tensor for an input has the input's dtype and, if known, its shape. */
function checkStorage(argument: string, { dtype, shape }: LogicalTensor, tensor: Tensor): void {
  if (!(tensor instanceof Tensor))
    throw new InvalidArgumentError(argument, `must be a host tensor, got ${describeValue(tensor)}`);
  if (tensor.dtype !== storageDType(dtype))
    throw new InvalidDTypeError(argument, `must be ${storageDType(dtype)}, got ${tensor.dtype}`);
  if (!admits(shape, tensor.shape))
    throw new InvalidShapeError(argument, `must have shape [${shape}], got [${tensor.shape}]`);
}

function typeOf(tensor: LogicalTensor): number {
  const type = elementType(tensor.dtype);
  if (type !== undefined) return type;
  const where = `that reads or produces tensor ${describeTensor(tensor)}`;
  throw new UnsupportedOperationError(where, 'has a tensor without a dtype');
}

/** Writes the operations of a partition, with attention as one operator if possible. */
function writeGroup(nodes: readonly GraphNode[], topology: Topology, write: OnnxWriter): void {
  const members = new Set(nodes);
  const forms = nodes.map(node => attentionForm(node, topology));
  const attention = forms.find(form => form && [...form.nodes].every(node => members.has(node)));
  const last = attention && nodes.filter(node => attention.nodes.has(node)).at(-1);
  for (const node of nodes) {
    if (node === last) attention?.write(write);
    if (attention?.nodes.has(node)) continue;
    const translate = Object.hasOwn(translations, node.kind) ? translations[node.kind] : undefined;
    write.at = node;
    (translate ?? write.refuse('has no equivalent in ONNX'))(node, write);
  }
}
