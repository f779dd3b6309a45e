import { fillNormal } from '@tilewise/philox';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SdpaOptions } from '../attention/options/options.ts';
import { Tensor } from '../tensor/tensor.ts';
import { sdpaBackwardFloat64 } from './backward.ts';
import { sdpaFloat64 } from './forward.ts';

const [B, Hq, Hk, Sq, Skv, Dqk, Dv] = [2, 4, 2, 3, 5, 4, 3];

function normal(shape: readonly number[], seed: number): Float32Array {
  return fillNormal(new Float32Array(shape.reduce((n, extent) => n * extent, 1)), { seed });
}

const shapes = { q: [B, Hq, Sq, Dqk], k: [B, Hk, Skv, Dqk], v: [B, Hk, Skv, Dv], dO: [B, Hq, Sq, Dv] };
type Inputs = Readonly<Record<keyof typeof shapes, Tensor>>;

function inputsWith(make: (values: Float32Array, shape: readonly number[]) => Tensor): Inputs {
  const made = (name: keyof typeof shapes, seed: number) => make(normal(shapes[name], seed), shapes[name]);
  return { q: made('q', 1), k: made('k', 2), v: made('v', 3), dO: made('dO', 4) };
}

function run({ q, k, v, dO }: Inputs, options: SdpaOptions<Tensor> = {}) {
  const forward = sdpaFloat64(q, k, v, options);
  return {
    forward,
    gradients: sdpaBackwardFloat64({ q, k, v, dO, o: forward.o, lse: forward.lse }, options),
  };
}

const contiguous = inputsWith((values, shape) => Tensor.from(values, shape));

/** Storage in the order `order`, with `gap` unused elements after each row of every dimension. */
function strided(order: readonly number[], gap: number) {
  return (values: Float32Array, shape: readonly number[]): Tensor => {
    const strides = new Array<number>(4);
    let step = 1;
    for (const d of [...order].reverse()) {
      strides[d] = step;
      step = step * shape[d] + gap;
    }
    return Tensor.from(values, shape, { strides });
  };
}

describe('strides', () => {
  test('do not matter: any order of dimensions, any gaps', () => {
    const orders = [
      [0, 1, 2, 3],
      [0, 2, 1, 3],
      [2, 0, 1, 3],
      [1, 0, 2, 3],
      [3, 2, 1, 0],
    ];
    const expected = run(contiguous, { causal: true });
    fc.assert(
      fc.property(fc.constantFrom(...orders), fc.integer({ min: 0, max: 5 }), (order, gap) => {
        expect(run(inputsWith(strided(order, gap)), { causal: true })).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });

  test('of size-1 dimensions are never used', () => {
    const q = Tensor.wrap(new Float32Array([1, 2]), {
      dtype: 'f32',
      shape: [1, 1, 2, 1],
      strides: [3331333, 99990001, 1, 77],
    });
    const plain = Tensor.from([1, 2], [1, 1, 2, 1]);
    expect(sdpaFloat64(q, q, q)).toEqual(sdpaFloat64(plain, plain, plain));
  });

  test('of views of one interleaved tensor', () => {
    // BS3HD: q, k and v of a token are stored one after the other.
    const D = 2;
    const whole = Tensor.from(normal([B, Sq, 3, Hq, D], 5), [B, Sq, 3, Hq, D]);
    const part = (n: number) =>
      Tensor.wrap(whole.data, {
        dtype: 'f32',
        shape: [B, Hq, Sq, D],
        strides: [Sq * 3 * Hq * D, D, 3 * Hq * D, 1],
        offset: n * Hq * D,
      });
    const copy = (n: number) => part(n).cast('f32');
    expect(sdpaFloat64(part(0), part(1), part(2))).toEqual(sdpaFloat64(copy(0), copy(1), copy(2)));
  });
});

test('query head h reads head ⌊h / (Hq / Hk)⌋ of k and ⌊h / (Hq / Hv)⌋ of v', () => {
  const [H, Hkeys, Hvalues] = [6, 2, 3];
  const at = (shape: readonly number[], seed: number) => Tensor.from(normal(shape, seed), shape);
  const [q, dO] = [at([1, H, Sq, Dqk], 1), at([1, H, Sq, Dv], 4)];
  const [k, v] = [at([1, Hkeys, Skv, Dqk], 2), at([1, Hvalues, Skv, Dv], 3)];
  /** Each head repeated `times` times, as in PyTorch's repeat_interleave. */
  const repeated = (t: Tensor, times: number) => {
    const [, heads, S, D] = t.shape;
    const rows = Array.from({ length: heads * times }, (_, h) => {
      const from = Math.floor(h / times);
      return [...t.slice(1, from, from + 1).toFloat64()];
    });
    return Tensor.from(rows.flat(), [1, heads * times, S, D]);
  };
  const grouped = run({ q, k, v, dO });
  const full = run({ q, k: repeated(k, H / Hkeys), v: repeated(v, H / Hvalues), dO });
  expect(grouped.forward).toEqual(full.forward);
  expect(grouped.gradients.dq).toEqual(full.gradients.dq);
  const perHead = Skv * Dqk;
  grouped.gradients.dk?.values.forEach((x, n) => {
    const group = [0, 1, 2].map(g => (Math.floor(n / perHead) * 3 + g) * perHead + (n % perHead));
    const sum = group.reduce((total, m) => total + (full.gradients.dk?.values[m] ?? NaN), 0);
    expect(x).toBeCloseTo(sum, 12);
  });
});

test('permuting the heads of a group permutes its results', () => {
  const { q, k, v, dO } = contiguous;
  const order = [1, 0, 3, 2];
  const permuted = (t: Tensor) => {
    const result = Tensor.zeros(t.shape);
    order.forEach((from, h) => {
      const source = t.slice(1, from, from + 1).toFloat64();
      const target = result.slice(1, h, h + 1);
      [...target.offsets()].forEach((at, n) => {
        target.data[at] = source[n];
      });
    });
    return result;
  };
  const bias = Tensor.from(normal([Hq, Sq, Skv], 6), [1, Hq, Sq, Skv]);
  const plain = run({ q, k, v, dO }, { bias });
  const swapped = run({ q: permuted(q), k, v, dO: permuted(dO) }, { bias: permuted(bias) });
  const asTensor = ({ values, shape }: { values: Float64Array; shape: readonly number[] }) =>
    Tensor.from(values, shape);
  expect(asTensor(swapped.forward.o)).toEqual(permuted(asTensor(plain.forward.o)));
  expect(swapped.gradients.dq && asTensor(swapped.gradients.dq)).toEqual(
    plain.gradients.dq && permuted(asTensor(plain.gradients.dq)),
  );
  plain.gradients.dk?.values.forEach((x, n) => {
    expect(swapped.gradients.dk?.values[n]).toBeCloseTo(x, 12);
  });
});

describe('packed sequences', () => {
  const cuSeqLensQ = [0, 2, 2, 5, 6];
  const cuSeqLensKv = [0, 3, 4, 4, 8];
  const tokens = { q: 7, kv: 9 };
  const q = Tensor.from(normal([tokens.q, Hq, Dqk], 1), [tokens.q, Hq, Dqk]);
  const k = Tensor.from(normal([tokens.kv, Hk, Dqk], 2), [tokens.kv, Hk, Dqk]);
  const v = Tensor.from(normal([tokens.kv, Hk, Dv], 3), [tokens.kv, Hk, Dv]);
  const dO = Tensor.from(normal([tokens.q, Hq, Dv], 4), [tokens.q, Hq, Dv]);
  // The contents behind the last sequence must not matter.
  for (const t of [q, k, v, dO]) t.slice(0, t.shape[0] - 1, t.shape[0]).set(NaN, 0, 0, 0);

  test('give what each sequence gives alone', () => {
    const options = { causal: 'bottom-right' as const, alibi: true, sink: [0, 1, 2, 3] };
    const all = run({ q, k, v, dO }, { ...options, cuSeqLensQ, cuSeqLensKv });
    for (let b = 0; b < 4; b++) {
      const [q0, q1] = [cuSeqLensQ[b], cuSeqLensQ[b + 1]];
      const [k0, k1] = [cuSeqLensKv[b], cuSeqLensKv[b + 1]];
      // (T, H, D) of one sequence as (1, H, S, D).
      const dense = (t: Tensor, from: number, to: number) => {
        const [, H, D] = t.shape;
        return Tensor.from(t.slice(0, from, to).permute(1, 0, 2).toFloat64(), [1, H, to - from, D]);
      };
      const alone = run(
        { q: dense(q, q0, q1), k: dense(k, k0, k1), v: dense(v, k0, k1), dO: dense(dO, q0, q1) },
        options,
      );
      for (let h = 0; h < Hq; h++) {
        for (let i = 0; i < q1 - q0; i++) {
          expect(all.forward.lse.values[h * tokens.q + q0 + i]).toBe(
            alone.forward.lse.values[h * (q1 - q0) + i],
          );
          for (let d = 0; d < Dqk; d++) {
            expect(all.gradients.dq?.values[((q0 + i) * Hq + h) * Dqk + d]).toBe(
              alone.gradients.dq?.values[(h * (q1 - q0) + i) * Dqk + d],
            );
          }
          for (let d = 0; d < Dv; d++) {
            expect(all.forward.o.values[((q0 + i) * Hq + h) * Dv + d]).toBe(
              alone.forward.o.values[(h * (q1 - q0) + i) * Dv + d],
            );
          }
        }
      }
      for (let h = 0; h < Hk; h++) {
        for (let j = 0; j < k1 - k0; j++) {
          for (let d = 0; d < Dqk; d++) {
            expect(all.gradients.dk?.values[((k0 + j) * Hk + h) * Dqk + d]).toBe(
              alone.gradients.dk?.values[(h * (k1 - k0) + j) * Dqk + d],
            );
          }
        }
      }
    }
  });

  test('give fully masked rows for tokens of no sequence', () => {
    const { forward, gradients } = run({ q, k, v, dO }, { cuSeqLensQ, cuSeqLensKv });
    expect([...forward.o.values.slice(6 * Hq * Dv)]).toEqual(new Array(Hq * Dv).fill(0));
    expect([0, 1, 2, 3].map(h => forward.lse.values[h * tokens.q + 6])).toEqual(new Array(4).fill(-Infinity));
    expect([...(gradients.dk?.values.slice(8 * Hk * Dqk) ?? [])]).toEqual(new Array(Hk * Dqk).fill(0));
  });
});

describe('paged keys and values', () => {
  const pageSize = 2;
  const pages = 3;
  // Block j of sequence b is block j·B + b of the container; no sequence uses the very last block.
  const pageTable = Tensor.from([0, 2, 4, 1, 3, 5], [B, pages], { dtype: 'i32' });
  const paged = (t: Tensor): Tensor => {
    const [, H, S, D] = t.shape;
    const container = Tensor.from(new Float32Array(7 * H * pageSize * D).fill(NaN), [7, H, pageSize, D]);
    for (let b = 0; b < B; b++) {
      for (let h = 0; h < H; h++) {
        for (let s = 0; s < S; s++) {
          const block = pageTable.get(b, Math.floor(s / pageSize));
          for (let d = 0; d < D; d++) container.set(t.get(b, h, s, d), block, h, s % pageSize, d);
        }
      }
    }
    return container;
  };
  const { q, k, v } = contiguous;
  const lengths = { seqLensKv: [5, 3], causal: 'bottom-right' as const };
  const dense = sdpaFloat64(q, k, v, lengths);

  test('give what dense ones give', () => {
    const options = { ...lengths, pageTableK: pageTable, pageTableV: pageTable };
    expect(sdpaFloat64(q, paged(k), paged(v), options)).toEqual(dense);
  });

  test('may be paged on one side only', () => {
    expect(sdpaFloat64(q, paged(k), v, { ...lengths, pageTableK: pageTable })).toEqual(dense);
    expect(sdpaFloat64(q, k, paged(v), { ...lengths, pageTableV: pageTable })).toEqual(dense);
  });

  // The same pages, but each sequence has only the pages that it uses; one page is unused.
  const packedTable = Tensor.from([0, 2, 4, 6, 1, 3], [6], { dtype: 'i32' });

  test('may have a packed table each', () => {
    const options = {
      ...lengths,
      ...{ pageTableK: packedTable, cuPagesK: [0, 4, 6] },
      ...{ pageTableV: packedTable.slice(0, 0, 6), cuPagesV: [0, 4, 6], maxSeqLenKv: 6 },
    };
    const { o, lse } = sdpaFloat64(q, paged(k), paged(v), options);
    expect([o, lse]).toEqual([dense.o, dense.lse]);
  });

  test('give the gradients of operands that are not paged', () => {
    const { o, lse } = dense;
    const given = { q, o, lse, dO: contiguous.dO };
    const expected = sdpaBackwardFloat64({ ...given, k, v }, lengths);
    const pagedV = { ...lengths, pageTableV: pageTable, gradients: ['dq', 'dk'] as const };
    const { dq, dk } = sdpaBackwardFloat64({ ...given, k, v: paged(v) }, pagedV);
    expect([dq, dk]).toEqual([expected.dq, expected.dk]);
    const pagedBoth = { ...pagedV, pageTableK: pageTable, gradients: ['dq'] as const };
    expect(sdpaBackwardFloat64({ ...given, k: paged(k), v: paged(v) }, pagedBoth)).toEqual({
      dq: expected.dq,
    });
  });
});
