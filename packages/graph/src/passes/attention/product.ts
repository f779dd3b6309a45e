import type { GraphNode } from '../../ir/node.ts';
import { flagOf, numbersOf } from '../../ir/schema/attribute.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import type { Topology } from '../../ir/topology.ts';

/** A matrix: a tensor, or the tensor with its last two dimensions swapped. */
export interface Factor {
  readonly tensor: number;
  readonly transposed: boolean;
}

/** A product of two factors. */
export interface Product {
  readonly matmul: GraphNode;
  /** Whether the MatMul is Yᵀ·Xᵀ, the transpose of X·Y. */
  readonly transposed: boolean;
}

/** The transpose of a factor. */
export function transposeOf({ tensor, transposed }: Factor): Factor {
  return { tensor, transposed: !transposed };
}

/** The factors X and Y of a MatMul as X·Y. */
export function factorsOf({ inputs, attributes }: GraphNode): readonly [Factor, Factor] {
  return [
    { tensor: inputs[0].id, transposed: flagOf(attributes, 'transpose_a') },
    { tensor: inputs[1].id, transposed: flagOf(attributes, 'transpose_b') },
  ];
}

/** The MatMul of two factors, or of its transpose; null when there is none. */
export function productOf(x: Factor, y: Factor, { uses }: Topology): Product | null {
  for (const { node } of uses(x.tensor)) {
    if (node.kind !== 'MatMul' || node.inputs.length !== 2) continue;
    const [a, b] = factorsOf(node);
    if (isSame(a, x) && isSame(b, y)) return { matmul: node, transposed: false };
    if (isSame(a, transposeOf(y)) && isSame(b, transposeOf(x))) return { matmul: node, transposed: true };
  }
  return null;
}

function isSame(a: Factor, b: Factor): boolean {
  return a.tensor === b.tensor && a.transposed === b.transposed;
}

/** Whether a StaticTranspose swaps only the last two dimensions. An empty order reverses all dimensions. */
export function swapsLastTwo({ attributes }: GraphNode): boolean {
  const order = numbersOf(attributes, 'order');
  const last = order.length - 1;
  return (
    last > 0 &&
    order.every((d, n) => axisOf(d, order.length) === (n === last ? last - 1 : n === last - 1 ? last : n))
  );
}
