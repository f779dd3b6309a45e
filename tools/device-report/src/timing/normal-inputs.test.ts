import { expect, test } from 'vitest';
import { normalInputs } from './normal-inputs.ts';

test('tensors of more numbers than are drawn repeat them, and no two heads are the same', () => {
  const [H, S, D] = [5, 2 ** 12, 2 ** 7];
  const { q, k } = normalInputs(['q', 'k'], [1, H, S, D]);
  const values = q.toFloat32();
  const sum = values.reduce((a, x) => a + x, 0);
  const squares = values.reduce((a, x) => a + x * x, 0);
  expect(sum / values.length).toBeCloseTo(0, 2);
  expect(squares / values.length).toBeCloseTo(1, 2);
  expect(values[2 ** 20]).toBe(values[7919]);
  const rows = new Set(
    Array.from({ length: H * S }, (_, row) => values.subarray(row * D, row * D + 4).join()),
  );
  expect(rows.size).toBe(H * S);
  expect(k.toFloat32().subarray(0, 4)).not.toEqual(values.subarray(0, 4));
});
