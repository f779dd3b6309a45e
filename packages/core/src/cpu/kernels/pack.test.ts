import { expect, test } from 'vitest';
import { decodeTable } from '../../tensor/decode-table.ts';
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

test.each(all)('$variant tells finite numbers from others', ({ memory, areFinite }) => {
  memory.reset();
  const panel = memory.floats(8);
  panel.values.set([1, -2, 3e38, 0, 1e-45, 6, 7, 8]);
  expect(areFinite(8, panel.at)).toBe(true);
  for (const x of [NaN, Infinity, -Infinity]) {
    panel.values[6] = x;
    expect(areFinite(8, panel.at)).toBe(false);
    expect(areFinite(4, panel.at)).toBe(true);
  }
});
