import { describe, expect, test } from 'vitest';
import { mul } from '../../expr/index.ts';
import { hostPrimitives, input, type Primitives } from '../../primitive/index.ts';
import { type DType, dtypeInfo } from '../../tensor/dtype/dtype.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { supportedVariants } from '../kernels/host-kernels.ts';
import { cpuPrimitives } from '../primitives/cpu-primitives.ts';

const COUNT = 2 ** 16;

/** The bits of x · 1 in another dtype; a product, because a copy of equal dtypes copies bits. */
function bits(primitives: Primitives<Tensor>, x: Tensor, dtype: DType): ArrayLike<number> {
  const y = Tensor.zeros([x.size], { dtype });
  primitives.prepare({ kind: 'map', value: mul(input(0), 1) }, [x], [y]).run([x], [y]);
  return dtype === 'f32' ? new Uint32Array(y.data.buffer) : y.data;
}

/** Numbers around the boundaries of 16-bit floats, among all exponents, and NaN and infinities. */
function floats(): Tensor {
  const words = Uint32Array.from({ length: COUNT }, (_, n) => (n * 0x9e3779b1) >>> 0);
  const special = [0, 65_504, 65_519.99, 65_520, 2 ** -14, 2 ** -24, 2 ** -25, 1.5 * 2 ** -25, 3.4e38];
  const values = new Float32Array(words.buffer);
  for (const [n, x] of special.entries()) values.set([x, -x], 2 * n);
  values.set([Infinity, -Infinity, NaN], 2 * special.length);
  return Tensor.wrap(values, { shape: [COUNT], dtype: 'f32' });
}

describe.each(supportedVariants().filter(name => name !== 'typescript'))('%s', variant => {
  const primitives = cpuPrimitives(variant);

  test.each(['f16', 'bf16'] as const)('every %s code becomes the f32 that it is on the host', dtype => {
    const data = Uint16Array.from({ length: COUNT }, (_, n) => n);
    const codes = Tensor.wrap(data, { shape: [COUNT], dtype });
    const numbers = new Float32Array(Uint32Array.from(bits(primitives, codes, 'f32')).buffer);
    const wrong = numbers.findIndex((x, n) => !Object.is(x, Math.fround(dtypeInfo[dtype].decode(n))));
    expect(wrong).toBe(-1);
  });

  test.each(['f16', 'bf16'] as const)('f32 are rounded to %s as on the host', dtype => {
    const x = floats();
    const [got, want] = [primitives, hostPrimitives].map(of => bits(of, x, dtype));
    expect(Array.from(got).findIndex((code, n) => code !== want[n])).toBe(-1);
  });
});
