import type { Merge, SoftmaxState } from '../../logic/streaming/softmax-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { formulas } from '../formulas.ts';

/** A merge of two states, worked out with their numbers. */
export function MergeEquations(props: {
  readonly a: SoftmaxState;
  readonly b: SoftmaxState;
  readonly merge: Merge;
}) {
  const { a, b, merge } = props;
  const { fixed, vector } = useNumbers();
  const number = (value: number): string => (Number.isFinite(value) ? fixed(value, 3) : '−∞');
  const numbersOf = (name: string, { m, d, num }: SoftmaxState): Record<string, string> => ({
    [`${name}.m`]: number(m),
    [`${name}.d`]: number(d),
    [`${name}.num`]: vector(num, 3),
  });
  const words = {
    ...numbersOf('a', a),
    ...numbersOf('b', b),
    ...numbersOf('merged', merge.state),
    'a.factor': number(merge.factors[0]),
    'b.factor': number(merge.factors[1]),
  };
  return <Formula block tex={formulas.mergeOfNumbers} words={words} />;
}
