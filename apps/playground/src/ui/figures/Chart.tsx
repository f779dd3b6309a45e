import type { PlotOptions } from '@observablehq/plot';
import { useEffect, useRef, useState } from 'react';
import { numbersIn } from '../../text/numbers.ts';
import { useLanguage } from '../../text/TextProvider.tsx';
import { useNear } from './useNear.ts';

/** The charting library, which is loaded with the first chart. */
export type Plot = typeof import('@observablehq/plot');

const style = {
  background: 'none',
  fontFamily: 'var(--font)',
  fontSize: '12px',
  color: 'var(--text-soft)',
  overflow: 'visible',
};

/**
 * A chart by Observable Plot, with a description for visitors who cannot see it, and with axis numbers in the
 * visitor's language. `options` must be stable between changes.
 */
export function Chart(props: { readonly label: string; readonly options: (plot: Plot) => PlotOptions }) {
  const { label, options } = props;
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const near = useNear(host);
  const [language] = useLanguage();
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.min(640, Math.round(element.clientWidth))));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0 || !near) return;
    let current = true;
    import('@observablehq/plot').then(plot => {
      if (!current) return;
      const { significant } = numbersIn(language);
      const axis = {
        tickFormat: (tick: unknown) => (typeof tick === 'number' ? significant(tick, 6) : String(tick)),
      };
      const { x, y, ...others } = options(plot);
      const axes = { x: { ...axis, ...x }, y: { ...axis, ...y } };
      const chart = plot.plot({ width, height: 280, marginBottom: 42, style, ...axes, ...others });
      // The figure has its own label; the labels of the marks have no role that could carry them.
      chart.setAttribute('aria-hidden', 'true');
      host.current?.replaceChildren(chart);
    });
    return () => {
      current = false;
    };
  }, [options, width, near, language]);
  return <div ref={host} className="chart" role="img" aria-label={label} />;
}
