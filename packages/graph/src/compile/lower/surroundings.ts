import type { GraphNode } from '../../ir/node.ts';
import { viewStrides } from '../../ir/program/views.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import { constantTensor } from '../../ops/layout/constant.ts';
import { transposeOrder } from '../../ops/layout/layout.ts';
import { lowerNode, type MatchLowering } from './match-lowering.ts';

/**
 * Writes operations around an attention call one by one; layout operations become views.
 */
export function lowerAround(nodes: readonly GraphNode[], lowering: MatchLowering): void {
  for (const node of nodes) if (!isView(node, lowering)) lowerNode(node, lowering);
}

/**
 * Makes the output of a layout operation a view of its input, and a constant a value without a copy, unless
 * the output leaves the match.
 */
function isView(node: GraphNode, lowering: MatchLowering): boolean {
  const { builder } = lowering;
  const [input] = node.inputs;
  const [output] = node.outputs;
  if (builder.valueOf(output.id)) return false;
  if (node.kind === 'Constant') {
    const numbers = constantTensor(node.attributes, lowering.desc(output.id).dtype);
    builder.alias(output.id, builder.constant(numbers));
    return true;
  }
  const from = lowering.value(input.id);
  switch (node.kind) {
    case 'StaticReshape': {
      const { shape } = lowering.desc(output.id);
      const strides = viewStrides(from.desc, shape);
      if (strides) builder.alias(output.id, builder.view(from, shape, strides));
      return strides !== null;
    }
    case 'StaticTranspose': {
      const order = transposeOrder(numbersOf(node.attributes, 'order'), from.desc.shape.length);
      builder.alias(output.id, builder.permuted(from, order));
      return true;
    }
    case 'Reorder':
      builder.alias(output.id, from);
      return true;
    default:
      return false;
  }
}
