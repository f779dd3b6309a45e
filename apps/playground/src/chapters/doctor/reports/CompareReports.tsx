import {
  type ComparedRow,
  compareReports,
  type DeviceReport,
  deviceName,
  parseReport,
} from '@tilewise/device-report';
import { useState } from 'react';
import { useNumbers } from '../../../text/numbers.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { Toggle } from '../../../ui/controls/Toggle.tsx';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';
import { Rich } from '../../../ui/prose/Rich.tsx';
import { Section } from '../../../ui/prose/Section.tsx';
import { speedUnit } from '../speed/speed-unit.ts';
import { ReportField, type ReportInput } from './ReportField.tsx';

const noInput: ReportInput = { text: '', name: '' };
type Inputs = readonly [first: ReportInput, second: ReportInput];

/** The reports that the visitor gave last, so that a visit to another chapter does not lose them. */
let given: Inputs = [noInput, noInput];

const groups = ['speed', 'correctness', 'device'] as const;

type Read = { readonly report: DeviceReport | null; readonly error: string | null };

/** Reads a report that was dropped or pasted; returns a message if the text is not a report. */
function read({ text }: ReportInput): Read {
  if (text.trim() === '') return { report: null, error: null };
  try {
    return { report: parseReport(text), error: null };
  } catch (error) {
    return { report: null, error: error instanceof Error ? error.message : String(error) };
  }
}

/** Two reports side by side; the first may be that of this device. */
export function CompareReports({ own }: { readonly own: DeviceReport | null }) {
  const text = useChapterText('doctor');
  const [inputs, setInputs] = useState(given);
  const take = (next: Inputs): void => {
    given = next;
    setInputs(next);
  };
  const [differing, setDiffering] = useState(false);
  const [first, second] = inputs.map(read);
  const ownFirst = inputs[0].text === '' && own !== null;
  const a = ownFirst ? own : (first?.report ?? null);
  const b = second?.report ?? null;
  return (
    <Section id="compare" title={text.compare}>
      <p>
        <Rich text={text.compareAbout} />
      </p>
      <div className="beside">
        <ReportField
          label={text.firstReport}
          input={inputs[0]}
          error={first?.error ?? null}
          placeholder={ownFirst ? text.ownReport : text.pasteReport}
          onInput={input => take([input, inputs[1]])}
        />
        <ReportField
          label={text.secondReport}
          input={inputs[1]}
          error={second?.error ?? null}
          placeholder={text.pasteReport}
          onInput={input => take([inputs[0], input])}
        />
      </div>
      {a && b && (
        <>
          <Toggle label={text.onlyDiffering} checked={differing} onChange={setDiffering} />
          <Compared
            names={[deviceName(a), deviceName(b)]}
            rows={compareReports(a, b)}
            differing={differing}
          />
        </>
      )}
    </Section>
  );
}

function Compared(props: {
  readonly names: readonly [string, string];
  readonly rows: readonly ComparedRow[];
  readonly differing: boolean;
}) {
  const { names, rows, differing } = props;
  const text = useChapterText('doctor');
  const { significant } = useNumbers();
  const shown = rows.filter(({ values: [a, b] }) => !differing || a !== b);
  const speed = (tflops: number): string => {
    const { name, perTeraflops } = speedUnit(tflops);
    return `${significant(perTeraflops * tflops, 3)} ${name}`;
  };
  const write = (value: number | string | null, unit: string): string =>
    value === null
      ? '·'
      : typeof value === 'string'
        ? (text.words[value] ?? value)
        : unit === 'TFLOP/s'
          ? speed(value)
          : `${significant(value, unit ? 3 : 12)} ${unit}`.trim();
  return (
    <ScrollRegion label={text.compare}>
      <table className="numbers doctor-compared">
        <thead>
          <tr>
            <th scope="col">{text.what}</th>
            {([0, 1] as const).map(n => (
              <th scope="col" key={n} lang="en">
                {names[n]}
              </th>
            ))}
            <th scope="col">{text.ratio}</th>
          </tr>
        </thead>
        {groups.map(group => {
          const own = shown.filter(row => row.group === group);
          if (own.length === 0) return null;
          return (
            <tbody key={group}>
              <tr>
                <th scope="rowgroup" colSpan={4}>
                  {text.groups[group]}
                </th>
              </tr>
              {own.map(({ name, unit, values, ratio }) => (
                <tr key={name}>
                  <th scope="row" lang="en">
                    {name}
                  </th>
                  <td data-bad={values[0] === 'wrong'}>{write(values[0], unit)}</td>
                  <td data-bad={values[1] === 'wrong'}>{write(values[1], unit)}</td>
                  <td
                    data-faster={ratio !== null && ratio > 1.05}
                    data-slower={ratio !== null && ratio < 0.95}
                  >
                    {ratio === null ? '' : `${significant(ratio, 3)} ×`}
                  </td>
                </tr>
              ))}
            </tbody>
          );
        })}
      </table>
    </ScrollRegion>
  );
}
