import { Fragment, type ReactNode, useMemo } from 'react';
import { type FactorForm, twoPaths } from '../../logic/streaming/two-paths.ts';
import { useUrlChoice } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { BesideText } from '../../ui/figures/BesideText.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

const forms: readonly FactorForm[] = ['difference', 'quotient'];

/** Both ways to the sum of exponentials, number by number, with the factor in either form. */
export function TwoPaths(props: {
  readonly x: readonly number[];
  readonly shift: number;
  readonly onShift: (shift: number) => void;
  /** The texts before and after the controls. */
  readonly intro: ReactNode;
  readonly children: ReactNode;
}) {
  const { x, shift, onShift, intro, children } = props;
  const { softmax: text } = useText();
  const { significant } = useNumbers();
  const [form, setForm] = useUrlChoice('factor', 'difference', forms);
  const steps = useMemo(() => twoPaths(x, form).map((step, k) => ({ ...step, k })), [x, form]);
  const last = steps.at(-1);
  const broken = last !== undefined && !Number.isFinite(last.running);
  const shown = (value: number): string => significant(value, 4);
  const table = (
    <ScrollRegion label={text.paths}>
      <table className="numbers formula-heads">
        <thead>
          <tr>
            <th scope="col" data-symbol="x">
              xₖ
            </th>
            <Heading parts={['sₖ = Σ ', 'exp', '(xⱼ − m)']} />
            <th scope="col" data-symbol="m">
              mₖ
            </th>
            <Heading parts={form === 'difference' ? ['exp', '(mₖ₋₁ − mₖ)'] : ['exp(mₖ₋₁) / ', 'exp(mₖ)']} />
            <Heading symbol="s" parts={['sₖ = Σ ', 'exp', '(xⱼ − mₖ)']} />
          </tr>
        </thead>
        <tbody>
          {steps.map(step => (
            <tr key={step.k}>
              <th scope="row" data-symbol="x">
                {shown(step.x)}
              </th>
              <td>{shown(step.global)}</td>
              <td data-symbol="m">{shown(step.m)}</td>
              <td data-bad={!Number.isFinite(step.factor)}>{step.k === 0 ? '–' : shown(step.factor)}</td>
              <td data-symbol="s" data-bad={!Number.isFinite(step.running)}>
                {shown(step.running)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
  return (
    <BesideText figure={table}>
      {intro}
      <div className="toolbar">
        <Segmented
          label={text.factor}
          value={form}
          options={forms.map(value => ({ value, label: text.factors[value] }))}
          onChange={setForm}
        />
        <Slider label={text.shift} value={shift} min={0} max={100} step={10} onChange={onShift} />
      </div>
      <p className={broken ? 'broken' : 'solved'} role="status">
        {last && (broken ? text.overflowed : text.meet(shown(last.global), shown(last.running)))}
      </p>
      {children}
    </BesideText>
  );
}

/** The heading of a column: a formula that may break between its parts. */
function Heading({ parts, symbol }: { readonly parts: readonly string[]; readonly symbol?: string }) {
  return (
    <th scope="col" data-symbol={symbol}>
      {parts.map(part => (
        <Fragment key={part}>
          <span className="unbroken">{part}</span>
          <wbr />
        </Fragment>
      ))}
    </th>
  );
}
