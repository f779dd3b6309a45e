import { describe, expect, test } from 'vitest';
import { add, erf, exp, mul, pow, tanh } from '../../../expr/index.ts';
import type { NumericExpr } from '../../../expr/nodes/expr.ts';
import { binaryFunction, unaryFunction } from '../../../expr/nodes/operators.ts';
import { input } from '../../../primitive/index.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { supportedVariants } from '../../kernels/host-kernels.ts';
import { cpuPrimitives } from '../../primitives/cpu-primitives.ts';

/** The f32 whose bits are `step` apart, from one number to another of the same sign. */
function floats(from: number, to: number, step: number): Float32Array {
  const [[first], [last]] = [from, to].map(x => new Uint32Array(Float32Array.of(x).buffer));
  const bits = new Uint32Array((last - first) / step);
  for (let n = 0; n < bits.length; n++) bits[n] = first + n * step;
  return new Float32Array(bits.buffer);
}

describe.each(supportedVariants().filter(name => name !== 'typescript'))('%s', variant => {
  const primitives = cpuPrimitives(variant);

  function values(value: NumericExpr, numbers: Float32Array): Float32Array {
    const [x, y] = [Tensor.from(numbers, [numbers.length]), Tensor.zeros([numbers.length])];
    primitives.prepare({ kind: 'map', value }, [x], [y]).run([x], [y]);
    return y.toFloat32();
  }

  test.each([
    ['exp', exp, (x: number) => 2.2e-7 + 7.5e-8 * x, 86.9],
    ['tanh', tanh, () => 3.5e-7, 3e38],
    ['erf', erf, () => 4.1e-7, 3e38],
  ] as const)(
    'the relative error of %s is as small as documented, at any magnitude',
    (name, f, bound, limit) => {
      const exact = unaryFunction(name, 'f32');
      for (const sign of [1, -1]) {
        const numbers = floats(1e-30, limit, 10_007).map(x => sign * x);
        const at = values(f(input(0)), numbers).findIndex((y, n) => {
          const want = exact(numbers[n]);
          return !(Math.abs(y - want) <= bound(Math.abs(numbers[n])) * Math.abs(want) + 1e-44);
        });
        expect(at < 0 ? '' : `of ${numbers[at]}`).toBe('');
      }
    },
  );

  test.each([
    ['tanh', tanh, 4, 8],
    ['erf', erf, 1.9, 3.7],
  ] as const)('%s never exceeds 1', (_name, f, from, to) => {
    expect(values(f(input(0)), floats(from, to, 1)).findIndex(y => y > 1)).toBe(-1);
  });

  test.each([2, 0.5, -0.5, -1, 3])('the power %f of 0, −0 and ∞ is that of the host', exponent => {
    const numbers = Float32Array.of(0, -0, Infinity, 4);
    const exact = binaryFunction('pow', 'f32');
    const wanted = Array.from(numbers, x => exact(x, exponent));
    expect([...values(pow(input(0), exponent), numbers)]).toEqual(wanted);
  });

  test('tanh and erf are 1 for large numbers, so that GELU has no tail', () => {
    const large = Float32Array.of(9, -9, 1e6, -1e6, Infinity, -Infinity, NaN);
    const signs = [1, -1, 1, -1, 1, -1, NaN];
    for (const f of [tanh, erf]) expect([...values(f(input(0)), large)]).toEqual(signs);
    const gelu = mul(mul(0.5, input(0)), add(1, erf(mul(input(0), Math.SQRT1_2))));
    expect([...values(gelu, Float32Array.of(-6, -100, -1e6))]).toEqual([-0, -0, -0]);
  });

  test('e^x is infinite where f32 is, and 0 below 2^-125.5', () => {
    const infinite = values(exp(input(0)), Float32Array.of(88.7228, 88.7229, 89, 1e30, Infinity));
    expect(Number.isFinite(infinite[0])).toBe(true);
    expect([...infinite.subarray(1)]).toEqual([Infinity, Infinity, Infinity, Infinity]);
    expect([...values(exp(input(0)), Float32Array.of(-87.1, -100, -1e30, -Infinity, NaN))]).toEqual([
      0,
      0,
      0,
      0,
      NaN,
    ]);
    expect(values(exp(input(0)), Float32Array.of(-86.9))[0]).toBeGreaterThan(2 ** -126);
  });
});
