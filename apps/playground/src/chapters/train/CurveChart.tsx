import * as Plot from '@observablehq/plot';
import { useEffect, useRef } from 'react';

/** A curve over steps, those of runs before it, and points on held-out sequences. */
export function CurveChart(props: {
  readonly title: string;
  readonly steps: string;
  readonly values: readonly number[];
  readonly past: readonly (readonly number[])[];
  readonly heldOut: readonly (readonly [step: number, value: number])[];
  readonly top?: number;
}) {
  const { title, steps, values, past, heldOut, top } = props;
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const line = (run: readonly number[], options: Plot.LineOptions) =>
      Plot.line(
        run.map((value, n) => [n + 1, value] as const),
        { curve: 'linear', ...options },
      );
    const chart = Plot.plot({
      width: 560,
      height: 240,
      marginLeft: 44,
      marginBottom: 36,
      style: {
        background: 'none',
        fontFamily: 'var(--font)',
        fontSize: '12px',
        color: 'var(--text-soft)',
        overflow: 'visible',
      },
      x: { label: steps, domain: [1, Math.max(20, values.length, ...past.map(run => run.length))] },
      y: { label: null, grid: true, zero: true, ticks: 5, ...(top !== undefined && { domain: [0, top] }) },
      marks: [
        ...past.map(run => line(run, { stroke: 'var(--line-strong)', strokeWidth: 3 })),
        line(values, { stroke: 'var(--accent)', strokeWidth: 1.6 }),
        Plot.dot(heldOut, { fill: 'var(--write)', r: 3 }),
      ],
    });
    // The figure has a label of its own.
    chart.setAttribute('aria-hidden', 'true');
    host.current?.replaceChildren(chart);
    return () => chart.remove();
  }, [values, past, heldOut, steps, top]);
  return (
    <figure className="train-curve">
      <figcaption>{title}</figcaption>
      <div className="chart" ref={host} role="img" aria-label={title} />
    </figure>
  );
}
