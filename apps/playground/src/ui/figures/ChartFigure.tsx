import type { PlotOptions } from '@observablehq/plot';
import { Chart, type Plot } from './Chart.tsx';

/** A chart under its title. */
export function ChartFigure(props: {
  readonly title: string;
  /** A longer description for visitors who cannot see the chart. */
  readonly description?: string;
  readonly options: (plot: Plot) => PlotOptions;
}) {
  const { title, description, options } = props;
  return (
    <figure className="chart-figure">
      <figcaption>{title}</figcaption>
      <Chart label={[title, description].filter(Boolean).join('. ')} options={options} />
    </figure>
  );
}
