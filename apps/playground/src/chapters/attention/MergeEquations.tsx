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
  const numbersOf = (name: string, { d, num }: SoftmaxState): Record<string, string> => ({
    [`${name}.d`]: fixed(d, 3),
    [`${name}.num`]: vector(num, 3),
  });
  const words = {
    ...numbersOf('a', a),
    ...numbersOf('b', b),
    ...numbersOf('merged', merge.state),
    'both.m': vector([a.m, b.m], 3),
    'merged.m': fixed(merge.state.m, 3),
    'a.factor': fixed(merge.factors[0], 3),
    'b.factor': fixed(merge.factors[1], 3),
  };
  return <Formula block tex={formulas.mergeOfNumbers} words={words} />;
}
