import { describe, expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import type { SdpaOptions } from '../attention/options/options.ts';
import { InvalidDTypeError } from '../errors.ts';
import { add, h, load, score } from '../expr/build.ts';
import { scoreMod } from '../expr/mods/mod.ts';
import { Tensor } from '../tensor/tensor.ts';
import { referenceEngine } from './engine.ts';
import { sdpaFloat64 } from './forward.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

const q = normal([1, 2, 3, 4], 1, 'f16');
const k = normal([1, 1, 5, 4], 2, 'bf16');
const v = normal([1, 1, 5, 6], 3, 'f8e4m3');
const dO = normal([1, 2, 3, 6], 4, 'bf16');

describe('sdpa', () => {
  test('rounds each float64 result once', () => {
    const exact = sdpaFloat64(q, k, v);
    const { o, lse } = sdpa(q, k, v);
    expect(o).toEqual(Tensor.from(exact.o.values, [1, 2, 3, 6], { dtype: 'f16' }));
    expect(lse).toEqual(Tensor.from(exact.lse.values, [1, 2, 3]));
  });

  test('gives o in outDType', () => {
    expect(sdpa(q, k, v, { outDType: 'f32' }).o.dtype).toBe('f32');
  });

  test('gives o in the dtype that was checked, even if the option changes when it is read again', () => {
    for (let stable = 0; stable < 8; stable++) {
      let reads = 0;
      const options = {
        get outDType() {
          return reads++ < stable ? 'f32' : 'i32';
        },
      };
      try {
        expect(sdpa(q, k, v, options as SdpaOptions).o.dtype).toBe('f32');
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidDTypeError);
      }
    }
  });

  test('gives optional results only on request', () => {
    expect(Object.keys(sdpa(q, k, v)).sort()).toEqual(['lse', 'o']);
    const outputs = { max: true, sumExp: true, dropoutMask: true };
    const all = sdpa(q, k, v, { outputs, dropout: { p: 0.5, seed: 0 } });
    const kinds = [all.max, all.sumExp, all.dropoutMask].map(t => [t?.dtype, t?.shape]);
    expect(kinds).toEqual([
      ['f32', [1, 2, 3]],
      ['f32', [1, 2, 3]],
      ['u8', [1, 2, 3, 5]],
    ]);
  });
});

describe('sdpaBackward', () => {
  test('gives each gradient in the shape and dtype of its operand', () => {
    const bias = normal([2, 1, 5], 5, 'bf16');
    const gain = normal([2], 6, 'f16');
    const options = {
      bias,
      sink: [0, 1],
      alibi: [0.5, 0.25],
      scoreMod: scoreMod(() => add(score, load('gain', [h])), { gain }),
    };
    const { o, lse } = sdpa(q, k, v, options);
    const { dCaptures, ...gradients } = sdpaBackward({ q, k, v, o, lse, dO }, options);
    const kinds = Object.entries({ ...gradients, ...dCaptures }).map(([name, t]) => [name, t.dtype, t.shape]);
    expect(kinds.sort()).toEqual(
      [
        ['dq', 'f16', [1, 2, 3, 4]],
        ['dk', 'bf16', [1, 1, 5, 4]],
        ['dv', 'f8e4m3', [1, 1, 5, 6]],
        ['dbias', 'bf16', [2, 1, 5]],
        ['dsink', 'f32', [2]],
        ['dAlibi', 'f32', [2]],
        ['gain', 'f16', [2]],
      ].sort(),
    );
  });

  test('uses the given lse and does not normalise again', () => {
    const { o, lse } = sdpa(q, k, v);
    const zero = Tensor.zeros(o.shape);
    const shifted = Tensor.from(
      lse.toFloat64().map(x => x + Math.LN2),
      lse.shape,
    );
    const half = sdpaBackward({ q, k, v, o: zero, lse: shifted, dO }, { gradients: ['dv'] }).dv.cast('f32');
    const full = sdpaBackward({ q, k, v: v.cast('f32'), o: zero, lse, dO }, { gradients: ['dv'] }).dv;
    half.toFloat64().forEach((x, n) => {
      // One rounding to e4m3: relative 2^-4, and half of 2^-9 near zero.
      expect(Math.abs(2 * x - full.toFloat64()[n])).toBeLessThanOrEqual(
        Math.abs(full.toFloat64()[n]) / 16 + 2 ** -9,
      );
    });
  });

  test('does not change its inputs', () => {
    const { o, lse } = sdpa(q, k, v);
    const tensors = [q, k, v, o, lse, dO];
    const before = tensors.map(t => t.toFloat64());
    sdpaBackward({ q, k, v, o, lse, dO });
    expect(tensors.map(t => t.toFloat64())).toEqual(before);
  });
});

test('the engine gives the same results', async () => {
  const engine = referenceEngine();
  const { o, lse } = await engine.sdpa(q, k, v, { causal: true });
  expect({ o, lse }).toEqual(sdpa(q, k, v, { causal: true }));
  const { dq } = await engine.sdpaBackward({ q, k, v, o, lse, dO }, { causal: true });
  expect(dq).toEqual(sdpaBackward({ q, k, v, o, lse, dO }, { causal: true }).dq);
});
