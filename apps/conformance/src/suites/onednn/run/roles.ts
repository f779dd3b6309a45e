import type { Graph, GraphNode, LogicalTensor } from '@tilewise/graph';

/** The role of an input in a graph, which decides the numbers that fill it. */
export type Role =
  | {
      readonly kind: 'matmul';
      readonly operand: 'src' | 'weights';
      readonly matmul: GraphNode;
      readonly scale: number;
      readonly zero: number;
    }
  | { readonly kind: 'factor'; readonly product: GraphNode }
  | { readonly kind: 'multiplier' | 'divisor' | 'general' | 'operand' }
  | {
      readonly kind: 'causal-mask';
      /** Whether the last row sees no key. */
      readonly hidesLastRow: boolean;
    }
  | { readonly kind: 'condition'; readonly value: 0 | 1 }
  | { readonly kind: 'fill' }
  | { readonly kind: 'stats'; readonly subtract: GraphNode }
  | { readonly kind: 'extent'; readonly of: 'queries' | 'keys'; readonly like: LogicalTensor }
  | { readonly kind: 'seed' | 'offset' | 'probability' }
  | { readonly kind: 'scales' | 'zero-points' };

/** Whether a graph has a softmax or its backward; an Add before it is then a mask. */
function isAttention({ nodes }: Graph): boolean {
  return (
    nodes.some(node => node.kind === 'SoftMax' || node.kind === 'Exp') &&
    nodes.filter(node => node.kind === 'MatMul').length > 1
  );
}

const passing = new Set([
  'Dequantize',
  'DynamicDequantize',
  'TypeCast',
  'StaticReshape',
  'StaticTranspose',
  'Reorder',
  'Quantize',
]);

/** The role of an input, by its first reader. */
export function roleOf(input: LogicalTensor, graph: Graph): Role {
  const { topology } = graph;
  let id = input.id;
  let scale = 1;
  let zero = 0;
  for (;;) {
    const [use] = topology.uses(id);
    if (!use) return { kind: 'general' };
    const { node, input: at } = use;
    if (at > 0 && (node.kind === 'DynamicDequantize' || node.kind === 'DynamicQuantize')) {
      return { kind: at === 1 ? 'scales' : 'zero-points' };
    }
    if (passing.has(node.kind)) {
      if (node.kind === 'Dequantize') {
        scale = (node.attributes.scales as readonly number[])[0];
        zero = ((node.attributes.zps ?? [0]) as readonly number[])[0] ?? 0;
      }
      id = node.outputs[0].id;
      continue;
    }
    return roleIn(node, at, { scale, zero }, graph);
  }
}

function roleIn(
  node: GraphNode,
  at: number,
  stored: { readonly scale: number; readonly zero: number },
  graph: Graph,
): Role {
  const { topology } = graph;
  const isProduced = (n: number): boolean => topology.producers.has(node.inputs[n]?.id ?? -1);
  switch (node.kind) {
    case 'MatMul':
      if (at === 2) return { kind: 'operand' };
      return { kind: 'matmul', operand: at === 0 ? 'src' : 'weights', matmul: node, ...stored };
    case 'Multiply':
      return { kind: isProduced(1 - at) ? 'multiplier' : at === 0 ? 'general' : 'operand' };
    case 'ReduceProd':
      return { kind: 'factor', product: node };
    case 'Divide':
      return { kind: at === 1 ? 'divisor' : 'general' };
    case 'Dropout':
      return { kind: at === 1 ? 'seed' : at === 2 ? 'offset' : at === 3 ? 'probability' : 'general' };
    case 'Select':
      return selectRole(node, at, graph);
    case 'Subtract': {
      const next = topology.uses(node.outputs[0].id)[0]?.node;
      if (next?.kind === 'Exp' && at === 1 && isAttention(graph)) return { kind: 'stats', subtract: node };
      return node.inputs[at].dtype === 'i32'
        ? extentRole('queries', node, graph)
        : { kind: at === 0 ? 'general' : 'operand' };
    }
    case 'Add': {
      if (node.inputs[at].dtype === 'i32' && node.inputs[1 - at].dtype === 'i32')
        return extentRole('keys', node, graph);
      if (!isAttention(graph) || !isProduced(1 - at)) return { kind: at === 0 ? 'general' : 'operand' };
      const softmax = graph.nodes.find(other => other.kind === 'SoftMax');
      return {
        kind: 'causal-mask',
        hidesLastRow: softmax === undefined || softmax.attributes.mode === 'inf_as_zero',
      };
    }
    default:
      return { kind: at === 0 ? 'general' : 'operand' };
  }
}

/** The condition always selects computed values; the alternative is −∞ if the condition is computed, too. */
function selectRole(node: GraphNode, at: number, { topology }: Graph): Role {
  if (at !== 0) return topology.producers.has(node.inputs[0].id) ? { kind: 'fill' } : { kind: 'operand' };
  return { kind: 'condition', value: topology.producers.has(node.inputs[1].id) ? 1 : 0 };
}

function extentRole(of: 'queries' | 'keys', node: GraphNode, { topology }: Graph): Role {
  let at = node;
  for (;;) {
    const producer = at.inputs.map(t => topology.producers.get(t.id)).find(p => p !== undefined);
    if (!producer) return { kind: 'operand' };
    if (producer.kind === 'GenIndex') return { kind: 'extent', of, like: producer.inputs[0] };
    at = producer;
  }
}
