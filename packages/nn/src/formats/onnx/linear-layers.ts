import type { GraphNode, LogicalTensor } from '@tilewise/graph';
import type { OnnxGraph } from '@tilewise/graph/onnx';
import type { LinearShape } from '../../architectures/transformer/scope.ts';

/** A product in a graph with a two-dimensional weight. */
export interface LinearLayer {
  /** The name of the layer, such as `model.layers.0.self_attn.q_proj`. */
  readonly layer: string;
  /** The name of the weight in the file. */
  readonly weight: string;
  readonly shape: LinearShape;
}

/**
 * The linear layers of an imported graph, by the ids of their operations: x times a weight, which may be
 * transposed or cast first. A layer is named after its weight, without `.weight`. Exporters rename the
 * weights that they transpose; such a layer is named after the path of its node (`/model/q_proj/MatMul` gives
 * `model.q_proj`), or after the weight if the node has no path or another weight has the name.
 */
export function linearLayers({ graph, weights }: OnnxGraph): ReadonlyMap<number, LinearLayer> {
  const named = new Map(Object.entries(weights).map(([name, { tensor }]) => [tensor.id, name]));
  // A tied embedding table may have the name of the head, whose own weight was renamed.
  const taken = new Map(Object.keys(weights).map(name => [layerName(name, ''), name] as const));
  const layers = new Map<number, LinearLayer>();
  for (const node of graph.nodes) {
    if (node.kind !== 'MatMul' || node.attributes.transpose_a === true) continue;
    const { source, isTransposed } = matrixSource(node.inputs[1] as LogicalTensor, graph.topology.producers);
    const weight = named.get(source.id);
    const [rows = 0, columns = 0] = source.shape ?? [];
    if (weight === undefined || source.shape?.length !== 2) continue;
    const isStoredInOut = isTransposed === (node.attributes.transpose_b === true);
    const shape: LinearShape = {
      ...(isStoredInOut ? { inputs: rows, outputs: columns } : { inputs: columns, outputs: rows }),
      transposed: isStoredInOut,
    };
    const wanted = layerName(weight, node.name);
    const layer = (taken.get(wanted) ?? weight) === weight ? wanted : weight;
    taken.set(layer, weight);
    layers.set(node.id, { layer, weight, shape });
  }
  return layers;
}

function layerName(weight: string, node: string): string {
  if (weight.endsWith('.weight')) return weight.slice(0, -'.weight'.length);
  const path = node.split('/').filter(part => part !== '');
  return path.length > 1 ? path.slice(0, -1).join('.') : weight;
}

/** The tensor behind an operand's casts, and whether its two dimensions are swapped. */
function matrixSource(
  operand: LogicalTensor,
  producers: ReadonlyMap<number, GraphNode>,
): { readonly source: LogicalTensor; readonly isTransposed: boolean } {
  let [source, isTransposed] = [operand, false];
  for (;;) {
    const producer = producers.get(source.id);
    if (producer?.kind !== 'TypeCast' && producer?.kind !== 'StaticTranspose')
      return { source, isTransposed };
    if (producer.kind === 'StaticTranspose') isTransposed = !isTransposed;
    source = producer.inputs[0] as LogicalTensor;
  }
}
