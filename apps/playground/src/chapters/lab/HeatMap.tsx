import { useEffect, useMemo, useRef } from 'react';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { keyStep, pointedAt } from '../../ui/controls/grid-keys.ts';
import { heatPixels, rangeOf } from './heat-pixels.ts';

/** A square matrix as colours; NaN is a hidden pair. Pointing, touching or the arrow keys choose a pair. */
export function HeatMap(props: {
  readonly title: string;
  readonly symbol: string;
  readonly values: Float32Array;
  readonly S: number;
  /** Rows and columns of the block mask's tiles; without this, no tiles are drawn. */
  readonly tile?: number | undefined;
  readonly at: readonly [i: number, j: number];
  readonly onChoose: (i: number, j: number) => void;
}) {
  const { title, symbol, values, S, tile = S, at, onChoose } = props;
  const borders = Array.from({ length: Math.ceil(S / tile) - 1 }, (_, t) => (t + 1) * tile);
  const { lab: text } = useText();
  const { fixed, significant } = useNumbers();
  const canvas = useRef<HTMLCanvasElement>(null);
  // Pointing draws the map again for each pair, with the same values.
  const [low, high] = useMemo(() => rangeOf(values), [values]);
  const most = Math.max(high, -low, 1e-9);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    context?.putImageData(new ImageData(heatPixels(values, most), S, S), 0, 0);
  }, [values, S, most]);
  const [i, j] = at;
  const value = values[i * S + j] ?? Number.NaN;
  const written = Number.isNaN(value) ? text.hidden : fixed(value, 4);
  return (
    <figure className="heat" data-symbol={symbol}>
      <figcaption>
        <span>{title}</span>
        <span className="mono">{written}</span>
      </figcaption>
      <button
        type="button"
        aria-label={text.mapLabel(title, i, j, written)}
        onKeyDown={event => {
          const to = keyStep(event, at, [S, S], Math.round(S / 8));
          if (!to) return;
          event.preventDefault();
          onChoose(...to);
        }}
        onPointerMove={event => onChoose(...pointedAt(event, [S, S]))}
        onPointerDown={event => onChoose(...pointedAt(event, [S, S]))}
      >
        <canvas ref={canvas} width={S} height={S} />
        <svg viewBox={`0 0 ${S} ${S}`} aria-hidden="true">
          <path
            className="tile-borders"
            d={borders.map(at => `M${at} 0V${S}M0 ${at}H${S}`).join('')}
            strokeWidth={S / 200}
          />
          <path className="cross" d={`M${j + 0.5} 0V${S}M0 ${i + 0.5}H${S}`} strokeWidth={S / 300} />
          <rect className="cursor" x={j} y={i} width="1" height="1" strokeWidth={S / 120} />
        </svg>
      </button>
      <p className="note">{text.range(significant(low, 3), significant(high, 3))}</p>
    </figure>
  );
}
