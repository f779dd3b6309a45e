import { expect, test } from 'vitest';
import { runOperation } from '../../testing/compare/run-operation.ts';

test('Dropout returns its mask, and RNG makes the same decisions', async () => {
  const values = new Array<number>(16).fill(3);
  const stream = [
    { values: [123456], shape: [], dtype: 'i64' as const },
    { values: [1], shape: [], dtype: 'i64' as const },
  ];
  const [dst, mask] = await runOperation('Dropout', [{ values }, ...stream], { p: 0.5 }, ['f32', 'u8']);
  // Words 2056334270, 202522231, 2153720529, 3977139244… are kept above 2³¹ − 1.
  expect(mask.slice(0, 4)).toEqual([0, 0, 1, 1]);
  expect(dst).toEqual(mask.map(keep => keep * 6));
  expect(await runOperation('RNG', [{ values }, ...stream], { p: 0.5 })).toEqual([mask]);
});
