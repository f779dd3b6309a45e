import { describe, expect, it } from 'vitest';
import { fewestCycles } from '../../logic/machine/matrix/matrix-problems.ts';
import { styleOf } from '../../logic/schedule/backward-order.ts';
import { totalTraffic } from '../../logic/schedule/loop-order.ts';
import { bytesMoved, flops } from '../../logic/schedule/roofline.ts';
import { welford } from '../../logic/streaming/welford.ts';
import { de } from '../../text/de/index.ts';
import { en } from '../../text/en/index.ts';
import { answers, isRight, type QuizId, readNumber } from './answers.ts';

const ids = Object.keys(answers) as QuizId[];

describe.each(ids)('the quiz %s', id => {
  const answer = answers[id];
  it('has its right options among those that are offered, in every language', () => {
    for (const { quizzes } of [en, de]) {
      const words = quizzes[id];
      const options = 'options' in words ? words.options : [];
      const right = answer.kind === 'number' ? [] : [answer.right].flat();
      expect(answer.kind === 'number').toBe(options.length === 0);
      for (const place of right) expect(options[place]).toBeTypeOf('string');
      if (answer.kind !== 'number') expect(right.length).toBeLessThan(options.length);
    }
  });

  it('accepts the right answer and no other', () => {
    const words = en.quizzes[id];
    const options = 'options' in words ? words.options : [];
    const accepted = options.filter((_, place) => isRight(answer, { chosen: [place], written: '' }));
    if (answer.kind === 'one') expect(accepted).toEqual([options[answer.right]]);
    else expect(accepted).toEqual([]);
    if (answer.kind === 'number') {
      expect(isRight(answer, { chosen: [], written: String(answer.right) })).toBe(true);
      expect(isRight(answer, { chosen: [], written: String(answer.right + 1) })).toBe(false);
    }
    expect(isRight(answer, { chosen: [], written: '' })).toBe(false);
  });
});

describe('the numbers among the answers', () => {
  it('are the numbers that the page computes', () => {
    const right = (id: QuizId): unknown => answers[id].right;
    expect(right('inner-six')).toBe(fewestCycles.any[6]);
    expect(right('walk-score')).toBe(
      (['dQ', 'dK', 'dV'] as const).filter(gradient => styleOf(gradient, 'columns') === 'inner').length,
    );
    // With many tiles, so that the traffic that occurs once per row is negligible.
    const n = 2000;
    const intensity = (order: 'inner-product' | 'outer-product'): number =>
      flops(n, 1, 8) / bytesMoved(totalTraffic(order, 100), 1, 8, 2);
    expect(intensity('inner-product') / intensity('outer-product')).toBeCloseTo(
      Number(right('intensity-orders')),
      1,
    );
    // For the numbers 0 and 2: one distance from the old mean, one from the new.
    expect(welford([0, 2]).at(-1)?.m2).toBe((2 - 0) * (2 - 1));
  });

  it('are read with a comma, with a point, as fractions and as factors', () => {
    expect(['1,5', ' 1.5 ', '3/2', '1.5×', '1,5-fach', '3/2 times'].map(readNumber)).toEqual(
      new Array(6).fill(1.5),
    );
    expect(['4x', '4 mal', '4-mal'].map(readNumber)).toEqual([4, 4, 4]);
    expect(['x', 'times', '4 apples', '4 × 2', ''].map(readNumber)).toEqual(new Array(5).fill(null));
  });
});
