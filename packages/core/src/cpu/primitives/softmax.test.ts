import { expect, test } from 'vitest';
import { hostPrimitives, type Primitive } from '../../primitive/index.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { supportedVariants } from '../kernels/host-kernels.ts';
import { cpuPrimitives } from './cpu-primitives.ts';

test.each(supportedVariants())('%s: a logarithm near 0 keeps its digits beside large inputs', variant => {
  const source = Tensor.from([20, 12, 19, 26], [2, 2]);
  const outputs = [Tensor.zeros([2, 2]), Tensor.zeros([2, 1])];
  const primitive: Primitive = { kind: 'softmax', axis: 1, log: true, mode: 'none' };
  cpuPrimitives(variant).prepare(primitive, [source], outputs).run([source], outputs);
  const [a, b, c, d] = outputs[0].toFloat64();
  // −ln(1 + e^−8) and −ln(1 + e^−7), beside −8 and −7 less as much.
  const [eight, seven] = [8, 7].map(distance => Math.log1p(Math.exp(-distance)));
  for (const [got, wanted] of [
    [a, -eight],
    [b, -8 - eight],
    [c, -7 - seven],
    [d, -seven],
  ])
    expect(Math.abs(got / wanted - 1)).toBeLessThan(2 ** -24 / eight);
  expect(outputs[1].toFloat64()[0]).toBeCloseTo(20 + eight, 5);
});

test.each([
  ['none', -Infinity],
  ['inf-as-zero', 0],
] as const)('a line without elements has stats, with %s', (mode, stats) => {
  const source = Tensor.zeros([2, 0]);
  const primitive: Primitive = { kind: 'softmax', axis: 1, log: false, mode };
  for (const primitives of [hostPrimitives, ...supportedVariants().map(variant => cpuPrimitives(variant))]) {
    const outputs = [Tensor.zeros([2, 0]), Tensor.from([7, 7], [2, 1])];
    primitives.prepare(primitive, [source], outputs).run([source], outputs);
    expect([...outputs[1].toFloat32()]).toEqual([stats, stats]);
  }
});
