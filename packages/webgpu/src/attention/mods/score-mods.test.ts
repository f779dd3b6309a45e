import { Tensor } from '@tilewise/core';
import * as e from '@tilewise/core/expr';
import { processorTime } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import {
  type AttentionCall,
  exactResults,
  gpuResults,
  normal,
} from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';

const S = 40;
const q = normal([2, 4, S, 8], 1);
const k = normal([2, 2, S, 8], 2);
const v = normal([2, 2, S, 8], 3);
const dO = normal([2, 4, S, 8], 4);
const i32 = (values: readonly number[]): Tensor => Tensor.from(values, [values.length], { dtype: 'i32' });

async function expectReference(options: AttentionCall['options']): Promise<ReturnType<typeof exactResults>> {
  const call = { q, k, v, dO, options };
  const exact = exactResults(call);
  const got = await gpuResults(await sharedContext(), call, exact);
  expectAgreement(got, exact, { distance: S });
  return got;
}

describe('mask mods', () => {
  const documents = Tensor.from(
    Array.from({ length: 2 * S }, (_, n) => Math.floor((n % S) / (n < S ? 9 : 17))),
    [2, S],
    { dtype: 'i32' },
  );

  test('hide keys by position, prefix and document', async () => {
    const near = e.orMasks(e.prefixLmMask(i32([3, 10])), e.slidingWindowMask({ left: 5, right: 2 }));
    await expectReference({ maskMod: e.andMasks<Tensor>(near, e.documentMask(documents)) });
  });

  test('one that shows a row no key gives a fully masked row', async () => {
    const rest = e.maskMod(({ h, q, kv }) => e.and(e.gt(q, 3), e.ne(e.mod(e.add(h, kv), 3), 1)));
    const got = await expectReference({ maskMod: e.andMasks(rest, e.dilatedMask(2, 7)) });
    expect([...got.lse.slice(2, 0, 4).toFloat32()]).toEqual(new Array(2 * 4 * 4).fill(-Infinity));
  });

  test('read tensors of bytes, words and booleans', async () => {
    const dtypes = ['u8', 'i8', 'u32', 'bool'] as const;
    const captures = Object.fromEntries(
      dtypes.map((dtype, d) => {
        const values = Array.from({ length: S }, (_, n) => Number((n * 7 + d) % 5 > 2));
        const signed = dtype === 'i8' ? values.map(x => 1 - 2 * x) : values;
        return [dtype, Tensor.from(signed, [S], { dtype })];
      }),
    );
    const maskMod = e.maskMod(
      ({ q, kv }) =>
        e.or(
          ...(['u8', 'i8', 'u32'] as const).map(dtype => e.gt(e.load(dtype, [kv], 'i32'), 0)),
          e.load('bool', [q], 'bool'),
        ),
      captures,
    );
    await expectReference({ maskMod });
  });
});

/** Gradients of captured tensors are not tested here, because integers have none. */
describe('score mods', () => {
  const { add, mul, sub, select, div, load } = e;
  test.each<[string, e.Mod<Tensor>]>([
    ['a constant', e.scoreMod(() => 0.25)],
    [
      'functions of the score',
      e.scoreMod(({ score }) =>
        add(
          add(e.log(add(1, e.exp(score))), e.sqrt(add(9, score))),
          add(mul(e.sin(mul(3, score)), e.cos(div(score, 2))), mul(0.1, e.pow(score, 3))),
        ),
      ),
    ],
    [
      'kinks, and functions of the place',
      e.scoreMod(({ score, q, kv }) =>
        add(
          add(e.abs(score), e.max(e.tanh(score), 0.25)),
          mul(0.1, add(e.floorDiv(sub(q, kv), 4), e.mod(sub(kv, q), 5))),
        ),
      ),
    ],
    [
      'captured integers, with a load that is guarded against leaving its tensor',
      e.scoreMod(
        ({ score, b, q, kv }) =>
          select(e.ge(q, kv), add(score, mul(0.2, e.load('bucket', [b, sub(q, kv)], 'i32'))), mul(score, 2)),
        {
          bucket: Tensor.from(
            Array.from({ length: 2 * S }, (_, n) => n % 5),
            [2, S],
            { dtype: 'i32' },
          ),
        },
      ),
    ],
  ])('%s', async (_, scoreMod) => {
    await expectReference({ scoreMod });
  });

  test('compose with softcap, bias, ALiBi, masks and dropout in their order', async () => {
    await expectReference({
      scoreMod: e.scoreMod(({ score, q, kv }) => add(mul(score, 1.5), mul(0.1, sub(kv, q)))),
      maskMod: e.slidingWindowMask({ left: 20, right: 6 }),
      softcap: 3,
      bias: normal([S, 1], 7),
      alibi: [0.1, 0.2, 0, 0.05],
      causal: true,
      dropout: { p: 0.2, seed: 5 },
      outputs: { max: true, sumExp: true },
    });
  });

  test('a score of −∞ hides its key', async () => {
    const scoreMod = e.scoreMod(({ score, q, kv }) =>
      select(e.and(e.gt(q, 2), e.ge(q, kv)), score, -Infinity),
    );
    const got = await expectReference({ scoreMod });
    expect(got.lse.get(0, 0, 1)).toBe(-Infinity);
  });

  const shown = ({ q, kv }: e.ScoreModVariables): e.BoolExpr => e.and(e.gt(q, 2), e.ge(q, kv));
  const hiding = (variables: e.ScoreModVariables): e.NumericExpr =>
    select(shown(variables), variables.score, -Infinity);
  /** −∞ above the diagonal; in row 5, −∞ everywhere; in row 6, the lowest finite number elsewhere. */
  const table = Tensor.from(
    Array.from({ length: S * S }, (_, n) => {
      const [q, kv] = [Math.floor(n / S), n % S];
      if (q === 5 || kv > q) return -Infinity;
      return q === 6 ? -3.4028234663852886e38 : 0.1 * (kv % 5);
    }),
    [S, S],
  );
  /** One mod for each head, so that one kernel contains all of them. */
  const perHead: readonly ((variables: e.ScoreModVariables) => e.NumericExpr)[] = [
    place => mul(hiding(place), 0.5),
    place => div(hiding(place), 8),
    place => mul(hiding(place), 10),
    place => sub(add(hiding(place), 100), 97),
    place => e.neg(e.neg(hiding(place))),
    place => e.min(e.max(hiding(place), hiding(place)), 5),
    place => mul(e.log(e.exp(hiding(place))), 2),
    place => mul(hiding(place), add(place.h, 0.25)),
    place => sub(place.score, mul(-2, hiding(place))),
    place => e.max(hiding(place), -3),
    place => add(e.tanh(hiding(place)), e.exp(hiding(place))),
    place => select(e.gt(mul(hiding(place), 0.5), -Infinity), place.score, -1),
    place => mul(add(place.score, load('table', [place.q, place.kv])), 0.5),
    place => e.max(div(load('table', [place.q, place.kv]), 4), -3),
    place => add(div(load('table', [place.q, place.kv]), 1e38), place.score),
    place => select(e.eq(load('table', [place.q, place.kv]), -Infinity), 1, place.score),
  ];

  test('a score of −∞ that is scaled, added to or negated twice hides its key, and no other score does', async () => {
    const H = perHead.length;
    const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, H, S, 4], seed));
    const scoreMod = e.scoreMod(
      place =>
        perHead.reduce<e.NumericExpr>(
          (rest, mod, h) => select(e.eq(place.h, h), mod(place), rest),
          place.score,
        ),
      { table },
    );
    const call = { q, k, v, dO, options: { scoreMod } };
    const exact = exactResults(call);
    expectAgreement(await gpuResults(await sharedContext(), call, exact), exact, { distance: S });
    expect(exact.lse.slice(1, 0, 9).get(0, 0, 0)).toBe(-Infinity);
  });

  test('a softcap bounds a score of −∞, as the reference does', async () => {
    const scoreMod = e.scoreMod(({ score, q, kv }) => mul(select(e.ge(q, kv), score, -Infinity), 1e-37));
    const got = await expectReference({ scoreMod, softcap: 0.5 });
    expect(Number.isFinite(got.lse.get(0, 0, 0))).toBe(true);
  });

  test('a NaN that the mod gives for a hidden pair does not spread', async () => {
    // A square root whose argument is negative above the diagonal.
    const scoreMod = e.scoreMod(({ score, q, kv }) => add(score, e.sqrt(e.toF32(sub(q, kv)))));
    await expectReference({ scoreMod, causal: true });
  });
});

test('captured tensors are read with their own strides and dtypes', async () => {
  const wide = Tensor.from(
    Array.from({ length: 2 * S }, (_, n) => (n % 2 ? 99 : n % 7)),
    [S, 2],
    { dtype: 'i32' },
  );
  const view = Tensor.wrap(wide.data, { dtype: 'i32', shape: [S], strides: [2] });
  const words = Tensor.from(
    Array.from({ length: S }, (_, n) => n % 5),
    [S],
    { dtype: 'u8' },
  );
  await expectReference({
    scoreMod: e.scoreMod(
      ({ score, q, kv }) =>
        e.add(score, e.mul(0.1, e.sub(e.load('view', [q], 'i32'), e.load('words', [kv], 'i32')))),
      { view, words },
    ),
    maskMod: e.maskMod(({ kv }) => e.lt(e.load('words', [kv], 'i32'), 4), { words }),
  });
});

test.each([
  ['offset', ['i32', 'u8']],
  ['seed', ['f32', 'f16']],
] as const)(
  'a captured tensor may be named %s, with another dtype in the next call',
  async (name, dtypes) => {
    for (const dtype of dtypes) {
      const capture = Tensor.from(
        Array.from({ length: S }, (_, n) => (n * 3) % 7),
        [S],
        { dtype },
      );
      const value = e.load(name, [e.q], name === 'offset' ? 'i32' : 'f32');
      const scoreMod = e.scoreMod(({ score }) => e.add(score, e.mul(0.1, value)), { [name]: capture });
      await expectReference({ scoreMod, gradients: ['dq'] });
    }
  },
);

test('a score mod of 24 levels that share their nodes is planned at once', async () => {
  const shared = e.scoreMod(({ score }) => {
    let level: typeof score = score;
    for (let n = 0; n < 24; n++) level = e.mul(e.add(level, level), 0.5);
    return level;
  });
  const start = processorTime();
  await expectReference({ scoreMod: shared });
  expect(processorTime() - start).toBeLessThan(60_000);
});
