import { attainable, type Roofline } from '@tilewise/device-report';
import type { Plot } from '../../../ui/figures/Chart.tsx';
import { implementationColors } from '../speed/implementation-colors.ts';
import type { SpeedUnit } from '../speed/speed-unit.ts';

/**
 * The options of the chart: the slope of the memory and the roof of each precision, the measurements below
 * them, and a dotted line from each measurement to what the model predicts.
 */
export function rooflineChart(
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
