import {
  attainable,
  type DeviceReport,
  measurementName,
  type Roofline,
  rooflineOf,
} from '@tilewise/device-report';
import { useCallback, useMemo } from 'react';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Chart, type Plot } from '../../ui/figures/Chart.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import { implementationColors } from './speed/implementation-colors.ts';
import { type SpeedUnit, speedUnit } from './speed/speed-unit.ts';

/** The roofline from the device's own measured peaks, with the measurements of attention below it. */
export function DeviceRoofline({ report }: { readonly report: DeviceReport }) {
  const roofline = useMemo(() => rooflineOf(report), [report]);
  return roofline && <Drawn roofline={roofline} head={report.attention?.settings.D ?? 0} />;
}

function Drawn({ roofline, head }: { readonly roofline: Roofline; readonly head: number }) {
  const text = useChapterText('doctor');
  const { significant, percent, whole } = useNumbers();
  const { ceilings, bandwidth, points } = roofline;
  const unit = useMemo(() => speedUnit(Math.max(...ceilings.map(({ tflops }) => tflops))), [ceilings]);
  const speed = (tflops: number): string => significant(unit.perTeraflops * tflops, 3);
  const options = useCallback(
    (plot: Plot) => chart(plot, roofline, unit, text.flopPerByte),
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
      {points.length > 0 && (
        <ScrollRegion label={text.prediction(unit.name)}>
          <table className="numbers">
            <caption>{text.prediction(unit.name)}</caption>
            <thead>
              <tr>
                <th scope="col">{text.what}</th>
                <th scope="col">{text.flopPerByte}</th>
                <th scope="col">{text.predicted}</th>
                <th scope="col">{text.limitedBy}</th>
                <th scope="col">{text.reached}</th>
                <th scope="col">{text.share}</th>
              </tr>
            </thead>
            <tbody>
              {points.map(({ measurement, intensity, predicted, limit, reached }) => (
                <tr key={measurementName(measurement, head)}>
                  <th scope="row">
                    <span className="keyed">
                      <span
                        className="swatch"
                        style={{ background: implementationColors[measurement.implementation] }}
                      />
                      {[
                        text.implementations[measurement.implementation],
                        text.passes[measurement.pass],
                        `S = ${whole(measurement.S)}`,
                      ].join(', ')}
                    </span>
                  </th>
                  <td>{significant(intensity, 3)}</td>
                  <td>{speed(predicted)}</td>
                  <td>{text.limitedBys[limit]}</td>
                  <td>{speed(reached)}</td>
                  <td>{percent(reached / predicted)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </Section>
  );
}

function chart(
  plot: Plot,
  { ceilings, bandwidth, points }: Roofline,
  { name, perTeraflops }: SpeedUnit,
  label: string,
) {
  const top = Math.max(...ceilings.map(({ tflops }) => tflops));
  const ridge = (1000 * top) / bandwidth;
  const intensities = points.map(({ intensity }) => intensity);
  const left = Math.min(0.5, ...intensities) / 1.5;
  const right = Math.max(4 * ridge, ...intensities.map(x => 2 * x));
  const lowest = Math.min((left * bandwidth) / 1000, ...points.map(({ reached }) => reached)) / 1.5;
  const roof = ceilings.map(({ precision, tflops }) => ({ precision, speed: perTeraflops * tflops, tflops }));
  const drawn = points.map(({ measurement, intensity, reached, predicted }) => ({
    ...{ intensity, pass: measurement.pass, color: implementationColors[measurement.implementation] },
    ...{ reached: perTeraflops * reached, predicted: perTeraflops * predicted },
  }));
  return {
    height: 340,
    marginLeft: 56,
    marginTop: 24,
    marginRight: 20,
    x: { type: 'log' as const, domain: [left, right], label, ticks: 5 },
    y: {
      type: 'log' as const,
      domain: [perTeraflops * lowest, perTeraflops * 2 * top],
      label: name,
      ticks: 5,
      grid: true,
    },
    marks: [
      plot.line(
        [left, ridge].map(x => [x, perTeraflops * attainable(x, { peak: top, bandwidth }).reached]),
        { stroke: 'var(--line-strong)', strokeWidth: 3, clip: true },
      ),
      ...roof.map(({ speed, tflops }) =>
        plot.line(
          [
            [(1000 * tflops) / bandwidth, speed],
            [right, speed],
          ],
          { stroke: 'var(--line-strong)', strokeWidth: 3 },
        ),
      ),
      plot.text(roof, {
        x: right,
        y: 'speed',
        text: 'precision',
        textAnchor: 'end',
        dx: -4,
        dy: -9,
        fill: 'var(--text-soft)',
        fontWeight: 600,
      }),
      plot.ruleX(drawn, {
        x: 'intensity',
        y1: 'reached',
        y2: 'predicted',
        stroke: 'color',
        strokeDasharray: '2 4',
        strokeOpacity: 0.7,
      }),
      plot.dot(drawn, {
        x: 'intensity',
        y: 'reached',
        r: 5,
        fill: 'color',
        symbol: (point: { readonly pass: string }) => (point.pass === 'forward' ? 'circle' : 'square'),
        stroke: 'var(--surface)',
        strokeWidth: 1.5,
      }),
    ],
  };
}
