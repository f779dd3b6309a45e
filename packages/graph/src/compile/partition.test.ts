import { expect, test } from 'vitest';
import { gradients } from '../gradients.ts';
import { Graph } from '../graph.ts';
import { connect } from '../ir/topology.ts';
import { groupOperations } from './partition.ts';

/** The number of look-ups with which the gradient of a sum over a chain of sines is divided into groups. */
function lookUps(length: number): number {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2] });
  const next = (kind: 'Sin' | 'ReduceSum', from: typeof x, attrs: object) => {
    const to = g.tensor({ dtype: 'f32' });
    g.add({ kind, attrs: { ...attrs }, inputs: [from], outputs: [to] });
    return to;
  };
  let y = x;
  for (let n = 0; n < length; n++) y = next('Sin', y, {});
  const sum = next('ReduceSum', y, { axes: [0] });
  const backward = gradients(g.finalize(), { of: sum, withRespectTo: [x] }).finalize();
  const topology = connect(backward.nodes, new Map());
  let count = 0;
  const counted = (tensor: number) => {
    count++;
    return topology.uses(tensor);
  };
  groupOperations({ ...topology, uses: counted }, 'fusion');
  return count;
}

test('a chain of twice the length is divided into groups with about twice the work', () => {
  expect(lookUps(1600) / lookUps(800)).toBeLessThan(2.5);
});
