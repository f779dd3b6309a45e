import { type DeviceReport, type Roofline, rooflineOf } from '@tilewise/device-report';
import { useCallback, useMemo } from 'react';
import { useNumbers } from '../../../text/numbers.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { Chart, type Plot } from '../../../ui/figures/Chart.tsx';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';
import { Section } from '../../../ui/prose/Section.tsx';
import { speedUnit } from '../speed/speed-unit.ts';
import { PredictionTable } from './PredictionTable.tsx';
import { rooflineChart } from './roofline-chart.ts';

/** The roofline from the device's own measured peaks, with the measurements of attention below it. */
export function DeviceRoofline({ report }: { readonly report: DeviceReport }) {
  const roofline = useMemo(() => rooflineOf(report), [report]);
  return roofline && <Drawn roofline={roofline} head={report.attention?.settings.D ?? 0} />;
}

function Drawn({ roofline, head }: { readonly roofline: Roofline; readonly head: number }) {
  const text = useChapterText('doctor');
  const { significant } = useNumbers();
  const { ceilings, bandwidth, points } = roofline;
  const unit = useMemo(() => speedUnit(Math.max(...ceilings.map(({ tflops }) => tflops))), [ceilings]);
  const speed = (tflops: number): string => significant(unit.perTeraflops * tflops, 3);
  const options = useCallback(
    (plot: Plot) => rooflineChart(plot, roofline, unit, text.flopPerByte),
    [roofline, unit, text],
  );
  return (
    <Section id="roofline" title={text.roofline}>
      <p>{text.rooflineAbout(significant(bandwidth, 3))}</p>
      <div className="beside">
        <Chart
          label={text.rooflineChart(
            ceilings.map(({ precision, tflops }) => `${precision}: ${speed(tflops)} ${unit.name}`),
          )}
          options={options}
        />
        <ScrollRegion label={text.ceilings}>
          <table className="numbers">
            <caption>{text.ceilings}</caption>
            <thead>
              <tr>
                <th scope="col">{text.what}</th>
                <th scope="col">{text.reached}</th>
              </tr>
            </thead>
            <tbody>
              {[...ceilings].reverse().map(({ precision, tflops }) => (
                <tr key={precision}>
                  <th scope="row">{text.product(precision)}</th>
                  <td>
                    {speed(tflops)} {unit.name}
                  </td>
                </tr>
              ))}
              <tr>
                <th scope="row">{text.copyOf}</th>
                <td>{significant(bandwidth, 3)} GB/s</td>
              </tr>
            </tbody>
          </table>
        </ScrollRegion>
      </div>
      {points.length > 0 && <PredictionTable points={points} head={head} unit={unit} />}
    </Section>
  );
}
