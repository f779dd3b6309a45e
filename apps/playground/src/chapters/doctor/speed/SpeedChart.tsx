import type { Measurement } from '@tilewise/device-report';
import { useCallback } from 'react';
import { useChapterText } from '../../../text/useChapterText.ts';
import type { Plot } from '../../../ui/figures/Chart.tsx';
import { ChartFigure } from '../../../ui/figures/ChartFigure.tsx';
import { implementationColors } from './implementation-colors.ts';

/** One value of each row against the sequence length, with a line for each implementation. */
export function SpeedChart(props: {
  readonly title: string;
  readonly rows: readonly Measurement[];
  readonly pass: Measurement['pass'];
  readonly value: (row: Measurement) => number | undefined;
  readonly unit: string;
  readonly log?: boolean;
}) {
  const { title, rows, pass, value, unit, log = false } = props;
  const text = useChapterText('doctor');
  const options = useCallback(
    (plot: Plot) => {
      const points = rows
        .filter(row => row.pass === pass)
        .flatMap(row => {
          const y = value(row);
          const { S, implementation } = row;
          const label = text.implementations[implementation];
          return y === undefined ? [] : [{ S, y, implementation, label }];
        });
      const last = (['flash', 'naive'] as const).flatMap(implementation =>
        points.filter(point => point.implementation === implementation).slice(-1),
      );
      const color = (point: Pick<Measurement, 'implementation'>): string =>
        implementationColors[point.implementation];
      const lengths = {
        type: 'point' as const,
        label: text.length,
        domain: [...new Set(rows.map(({ S }) => S))],
      };
      return {
        height: 240,
        marginLeft: 52,
        marginTop: 28,
        marginRight: 76,
        x: lengths,
        y: log
          ? { type: 'log' as const, label: unit, grid: true, ticks: 4 }
          : { label: unit, grid: true, zero: true, nice: true, ticks: 5 },
        marks: [
          plot.line(points, { x: 'S', y: 'y', z: 'implementation', stroke: color, strokeWidth: 2 }),
          plot.dot(points, { x: 'S', y: 'y', fill: color, r: 4 }),
          plot.text(last, {
            x: 'S',
            y: 'y',
            text: 'label',
            fill: color,
            dx: 8,
            textAnchor: 'start',
            fontWeight: 600,
          }),
        ],
      };
    },
    [rows, pass, value, unit, log, text],
  );
  return <ChartFigure title={title} description={`${unit}. ${text.inTable}`} options={options} />;
}
