import { Tensor } from '@tilewise/core';
import { Graph, type LogicalTensor } from '@tilewise/graph';
import { expect, test } from 'vitest';
import { linearLayers } from './linear-layers.ts';

/** The names of the linear layers of a product whose node and weight have the given names. */
function layerNames(node: string, weight: string, ...others: readonly string[]): string[] {
  const graph = new Graph();
  const tensor = (shape?: number[]): LogicalTensor => graph.tensor({ dtype: 'f32', shape });
  const [x, y] = [tensor([2, 3]), tensor()];
  const weights = Object.fromEntries(
    [weight, ...others].map(name => [name, { tensor: tensor([3, 4]), value: Tensor.zeros([3, 4]) }]),
  );
  graph.op('MatMul', { name: node, inputs: [x, weights[weight].tensor], outputs: [y] });
  const made = {
    graph: graph.finalize(),
    weights,
    inputs: { x },
    outputs: { y },
    bindings: {},
    specialised: new Set<string>(),
  };
  return [...linearLayers(made).values()].map(({ layer }) => layer);
}

test('a layer whose weight the exporter renamed is named after the path of its node', () => {
  expect(layerNames('/lm_head/MatMul', 'onnx::MatMul_584')).toEqual(['lm_head']);
  expect(layerNames('/lm_head/MatMul', 'head.weight')).toEqual(['head']);
});

test('a layer is named after its own weight if another weight has the name of its path', () => {
  // PyTorch's exporter gives a tied embedding table the name of the head, and transposes it for the head.
  expect(layerNames('lm_head/node_linear', 'val_307', 'lm_head.weight')).toEqual(['val_307']);
});
