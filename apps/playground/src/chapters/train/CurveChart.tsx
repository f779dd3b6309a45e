import { useCallback } from 'react';
import type { Plot } from '../../ui/figures/Chart.tsx';
import { ChartFigure } from '../../ui/figures/ChartFigure.tsx';

/** A curve over steps, the curves of earlier runs, and points for held-out sequences. */
export function CurveChart(props: {
  readonly title: string;
  readonly steps: string;
  readonly values: readonly number[];
  readonly past: readonly (readonly number[])[];
  readonly heldOut: readonly (readonly [step: number, value: number])[];
  readonly top?: number;
  /** Writes the values of the vertical axis. */
  readonly format?: (value: number) => string;
}) {
  const { title, steps, values, past, heldOut, top, format } = props;
  const options = useCallback(
    (plot: Plot) => {
      const points = (run: readonly number[]): [number, number][] => run.map((value, n) => [n + 1, value]);
      return {
        height: 240,
        marginLeft: 44,
        x: { label: steps, domain: [1, Math.max(20, values.length, ...past.map(run => run.length))] },
        y: {
          ...{ label: null, grid: true, zero: true, ticks: 5 },
          ...(top !== undefined && { domain: [0, top] }),
          ...(format && { tickFormat: (value: number) => format(value) }),
        },
        marks: [
          ...past.map(run => plot.line(points(run), { stroke: 'var(--line-strong)', strokeWidth: 3 })),
          plot.line(points(values), { stroke: 'var(--accent)', strokeWidth: 1.6 }),
          plot.dot(heldOut, { fill: 'var(--write)', r: 3 }),
        ],
      };
    },
    [values, past, heldOut, steps, top, format],
  );
  return <ChartFigure title={title} options={options} />;
}
