import { useCallback } from 'react';
import type { BenchRow } from '../../bench/bench.ts';
import { useText } from '../../text/TextProvider.tsx';
import type { Plot } from '../../ui/Chart.tsx';
import { ChartFigure } from '../../ui/ChartFigure.tsx';

const colors: Readonly<Record<string, string>> = { flash: 'var(--accent)', naive: 'var(--write)' };

/** A number of each row against the sequence length, a line for each implementation. */
export function BenchChart(props: {
  readonly title: string;
  readonly rows: readonly BenchRow[];
  readonly pass: BenchRow['pass'];
  readonly value: (row: BenchRow) => number | undefined;
  readonly unit: string;
  readonly log?: boolean;
}) {
  const { title, rows, pass, value, unit, log = false } = props;
  const text = useText().measure;
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
      const color = (point: { readonly implementation: string }): string =>
        colors[point.implementation] ?? '';
      const lengths = {
        type: 'point' as const,
        label: text.length,
        domain: [...new Set(rows.map(({ S }) => S))],
      };
      return {
        height: 240,
        marginLeft: 52,
        marginRight: 76,
        x: lengths,
        y: log
          ? { type: 'log' as const, label: unit, grid: true, ticks: 4, tickFormat: '~g' }
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
