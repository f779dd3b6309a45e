import { fillU32 } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { encoderOf } from '../../tensor/dtype/convert.ts';
import { decodeTable } from '../../tensor/dtype/decode-table.ts';
import { createKernels, supportedVariants } from './host-kernels.ts';

const all = supportedVariants().map(createKernels);

test.each(all)('$variant widens every f16 and bf16', ({ memory, decodeF16, decodeBf16 }) => {
  for (const [dtype, decode] of [['f16', decodeF16] as const, ['bf16', decodeBf16] as const]) {
    memory.reset();
    const codes = memory.allocate(Uint16Array, 65_536);
    codes.values.forEach((_, code) => {
      codes.values[code] = code;
    });
    const target = memory.floats(65_536);
    decode(65_536, codes.at, target.at);
    const table = decodeTable(dtype);
    const wrong = target.values.findIndex((x, code) => !Object.is(x, table[code]));
    expect(wrong, dtype).toBe(-1);
  }
});

test.each(all)('$variant detects rows with numbers that are not finite', ({ memory, packRows }) => {
  memory.reset();
  const [rows, panels] = [memory.floats(16), memory.floats(16).at];
  rows.values.set([1, -2, 3e38, 0, 1e-45, 6, 7, 8]);
  expect(packRows(2, 8, rows.at, 32, panels, 64)).toBe(true);
  for (const x of [NaN, Infinity, -Infinity]) {
    rows.values[14] = x;
    expect(packRows(2, 8, rows.at, 32, panels, 64)).toBe(false);
    expect(packRows(1, 8, rows.at, 32, panels, 64)).toBe(true);
  }
});

test.each(all)(
  '$variant rounds any f32 to f16 and bf16 as tensors do',
  ({ memory, encodeF16, encodeBf16 }) => {
    const edges = [0, 1, 0x38800000, 0x387fffff, 0x33000000, 0x33000001, 0x32ffffff, 0x477fefff, 0x477ff000];
    const special = [0x7f7fffff, 0x7f7f8000, 0x7f7f7fff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff];
    const bits = fillU32(new Uint32Array(2 ** 16), { seed: 1 });
    // Numbers around 1 and below, besides numbers with any exponent.
    for (let n = 0; n < 2 ** 15; n++) bits[n] = (bits[n] & 0x87ffffff) | 0x30000000;
    const both = [...edges, ...special].flatMap(code => [code, (code | 0x80000000) >>> 0]);
    bits.set(both);
    for (const [dtype, encode] of [['f16', encodeF16] as const, ['bf16', encodeBf16] as const]) {
      memory.reset();
      const source = memory.allocate(Uint32Array, bits.length);
      source.values.set(bits);
      const target = memory.allocate(Uint16Array, bits.length);
      encode(bits.length, source.at, target.at);
      const encodeBits = encoderOf(dtype);
      const wrong = target.values.findIndex((code, n) => code !== encodeBits(bits[n]));
      expect(wrong < 0 ? '' : bits[wrong].toString(16), dtype).toBe('');
    }
  },
);
