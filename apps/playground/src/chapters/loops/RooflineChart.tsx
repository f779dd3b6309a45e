import { attainable } from '@tilewise/device-report';
import { useCallback } from 'react';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Chart, type Plot } from '../../ui/figures/Chart.tsx';
import { colors, type SchedulePoint, type Speeds } from './schedule-points.ts';

/** The range of arithmetic intensities in the chart, in FLOP per byte. */
const [left, right] = [4, 2048];

/** The roof of a device, and the points of the schedules under it. */
export function RooflineChart({
  peak,
  bandwidth,
  points,
}: Speeds & { readonly points: readonly SchedulePoint[] }) {
  const { loops: text } = useText();
  const { significant } = useNumbers();
  const options = useCallback(
    (plot: Plot) => {
      const ridge = Math.max(left, (1000 * peak) / bandwidth);
      const reached = (intensity: number): number => attainable(intensity, { peak, bandwidth }).reached;
      const lowest = (left * bandwidth) / 1000;
      const color = ({ schedule }: SchedulePoint): string => colors[schedule];
      return {
        height: 300,
        marginLeft: 52,
        marginTop: 28,
        x: {
          type: 'log' as const,
          // In base 10, d3 omits the labels of ticks such as 4 and 64.
          base: 2,
          domain: [left, right],
          label: text.flopPerByte,
          ticks: [4, 16, 64, 256, 1024],
        },
        y: {
          type: 'log' as const,
          domain: [lowest, peak * 1.8],
          label: 'TFLOP/s',
          ticks: 4,
          grid: true,
        },
        marks: [
          plot.line(
            [
              [left, lowest],
              [ridge, reached(ridge)],
              [right, reached(right)],
            ],
            { stroke: 'var(--line-strong)', strokeWidth: 3, clip: true },
          ),
          plot.ruleX(points, {
            x: 'intensity',
            y1: lowest,
            y2: 'reached',
            stroke: color,
            strokeDasharray: '3 4',
          }),
          plot.dot(points, {
            x: 'intensity',
            y: 'reached',
            r: 6.5,
            fill: color,
            stroke: 'var(--surface)',
            strokeWidth: 2,
          }),
        ],
      };
    },
    [peak, bandwidth, points, text],
  );
  const described = points.map(
    ({ schedule, intensity, reached }) =>
      `${text.schedules[schedule]}: ${significant(intensity, 3)}, ${significant(reached, 3)} TFLOP/s`,
  );
  return <Chart label={text.rooflineChart(described)} options={options} />;
}
