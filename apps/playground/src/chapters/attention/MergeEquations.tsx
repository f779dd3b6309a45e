import type { Merge, SoftmaxState } from '../../logic/streaming/softmax-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { Formula } from '../../ui/formulas/Formula.tsx';

/** A merge of two states, worked out with their numbers. */
export function MergeEquations(props: {
  readonly a: SoftmaxState;
  readonly b: SoftmaxState;
  readonly merge: Merge;
}) {
  const { a, b, merge } = props;
  const { fixed, vector: written } = useNumbers();
  // TeX treats a decimal comma as a separator unless it stands in braces.
  const number = (value: number): string =>
    Number.isFinite(value) ? fixed(value, 3).replace(',', '{,}').replace('−', '-') : '-\\infty';
  const list = (values: readonly number[]): string =>
    values.map(number).join(written([0, 0], 0).includes(';') ? ';\\, ' : ',\\, ');
  const vector = (values: readonly number[]): string => `(${list(values)})`;
  const [fa, fb] = merge.factors.map(number);
  const { m, d, num } = merge.state;
  const lines = [
    `m' &= \\max(${list([a.m, b.m])}) = ${number(m)}`,
    `d' &= ${number(a.d)} \\cdot ${fa} + ${number(b.d)} \\cdot ${fb} = ${number(d)}`,
    `\\mathrm{num}' &= ${vector(a.num)} \\cdot ${fa}`,
    `&\\quad + ${vector(b.num)} \\cdot ${fb}`,
    `&= ${vector(num)}`,
  ];
  return <Formula block tex={`\\begin{aligned} ${lines.join(' \\\\ ')} \\end{aligned}`} />;
}
