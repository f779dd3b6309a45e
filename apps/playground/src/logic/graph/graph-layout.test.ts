import { Graph, type Partition } from '@tilewise/graph';
import { expect, it } from 'vitest';
import { attentionGraph } from './attention-graph.ts';
import { drawGraph, type GraphLayout, laidOut, operationsAround } from './graph-drawing.ts';
import { type Box, place } from './graph-layout.ts';

const { graph } = attentionGraph({
  pass: 'training',
  dtype: 'f32',
  mask: 'causal',
  softmax: 'operation',
  dropout: true,
  grouped: false,
  softcap: false,
});

function layoutGraph(of: Graph, partitions: readonly Partition[], focus = 0): GraphLayout {
  const drawing = drawGraph(of, partitions, new Map(), operationsAround(of, focus));
  return laidOut(drawing, place(drawing.plan));
}

const apart = (a: Box, b: Box): boolean =>
  Math.abs(a.x - b.x) >= (a.width + b.width) / 2 || Math.abs(a.y - b.y) >= (a.height + b.height) / 2;

it('places every operation inside of its partition, and none over another', () => {
  const { operations, partitions, ports } = layoutGraph(graph, graph.partitions());
  expect(operations).toHaveLength(graph.nodes.length);
  const [partition] = partitions;
  for (const { x, y, width, height } of operations) {
    expect(Math.abs(x - (partition?.x ?? 0)) + width / 2).toBeLessThanOrEqual((partition?.width ?? 0) / 2);
    expect(Math.abs(y - (partition?.y ?? 0)) + height / 2).toBeLessThanOrEqual((partition?.height ?? 0) / 2);
  }
  const boxes: readonly Box[] = [...operations, ...ports];
  for (const [n, a] of boxes.entries()) for (const b of boxes.slice(n + 1)) expect(apart(a, b)).toBe(true);
});

it('draws data flowing downwards, one line for each use of a tensor', () => {
  const { edges } = layoutGraph(graph, graph.partitions({ policy: 'debug' }));
  const uses = graph.nodes.reduce((sum, node) => sum + node.inputs.length, 0);
  expect(edges).toHaveLength(uses + graph.outputs.length);
  for (const { points } of edges) expect(points.at(-1)?.y).toBeGreaterThan(points[0]?.y ?? 0);
});

it('draws the operations around one of a graph that is too long to be drawn whole', () => {
  const chain = new Graph();
  let last = chain.tensor({ dtype: 'f32', shape: [4] });
  for (let n = 0; n < 2000; n++) {
    const next = chain.tensor({ dtype: 'f32', shape: [4] });
    chain.op('Abs', { inputs: [last], outputs: [next] });
    last = next;
  }
  chain.finalize();
  const focus = chain.nodes[1000]?.id ?? 0;
  const { operations, ports } = layoutGraph(chain, chain.partitions({ policy: 'debug' }), focus);
  expect(operations).toHaveLength(120);
  expect(operations.map(({ node }) => node.id)).toContain(focus);
  expect(ports.map(({ leaves }) => leaves)).toEqual([false, true]);
});

it('gives the drawing of a graph without operations a size', () => {
  expect(place({ nodes: [], groups: [], edges: [] })).toEqual({ width: 0, height: 0, boxes: {}, edges: [] });
});
