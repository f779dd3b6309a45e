import * as Plot from '@observablehq/plot';
import { useEffect, useRef } from 'react';
import type { BenchRow } from '../../bench/bench.ts';
import { useText } from '../../text/TextProvider.tsx';

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
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const points = rows
      .filter(row => row.pass === pass)
      .flatMap(row => {
        const y = value(row);
        return y === undefined
          ? []
          : [
              {
                S: row.S,
                y,
                implementation: row.implementation,
                label: text.implementations[row.implementation],
              },
            ];
      });
    const last = (['flash', 'naive'] as const).flatMap(implementation =>
      points.filter(point => point.implementation === implementation).slice(-1),
    );
    const colour = (point: { readonly implementation: string }): string =>
      point.implementation === 'flash' ? 'var(--accent)' : 'var(--write)';
    const chart = Plot.plot({
      width: 460,
      height: 240,
      marginLeft: 52,
      marginRight: 64,
      marginBottom: 38,
      style: {
        background: 'none',
        fontFamily: 'var(--font)',
        fontSize: '12px',
        color: 'var(--text-soft)',
        overflow: 'visible',
      },
      x: { type: 'point', label: text.length, domain: [...new Set(rows.map(({ S }) => S))] },
      y: log
        ? { type: 'log', label: unit, grid: true, ticks: 4, tickFormat: '~g' }
        : { label: unit, grid: true, zero: true, nice: true, ticks: 5 },
      color: { type: 'identity' },
      marks: [
        Plot.line(points, { x: 'S', y: 'y', z: 'implementation', stroke: colour, strokeWidth: 2 }),
        Plot.dot(points, { x: 'S', y: 'y', fill: colour, r: 4 }),
        Plot.text(last, {
          x: 'S',
          y: 'y',
          text: 'label',
          fill: colour,
          dx: 8,
          textAnchor: 'start',
          fontWeight: 600,
        }),
      ],
    });
    // The figure has a label of its own, and the numbers are in the table.
    chart.setAttribute('aria-hidden', 'true');
    host.current?.replaceChildren(chart);
    return () => chart.remove();
  }, [rows, pass, value, unit, log, text]);
  return (
    <figure className="bench-chart">
      <figcaption>{title}</figcaption>
      <div className="chart" ref={host} role="img" aria-label={`${title}, ${unit}. ${text.inTable}`} />
    </figure>
  );
}
