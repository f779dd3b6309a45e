import { useId } from 'react';

/** A square matrix as colours. NaN, a hidden pair, is hatched. Hovering or the arrow keys choose a pair. */
export function HeatMap(props: {
  readonly title: string;
  readonly values: Float32Array;
  readonly S: number;
  /** Colours run from 0 up, or both ways from 0. */
  readonly scale: 'sequential' | 'diverging';
  readonly at: readonly [i: number, j: number];
  readonly onChoose: (i: number, j: number) => void;
}) {
  const { title, values, S, scale, at, onChoose } = props;
  const pattern = useId();
  const most = values.reduce((max, x) => (Number.isNaN(x) ? max : Math.max(max, Math.abs(x))), 1e-9);
  const [ai, aj] = at;
  const value = values[ai * S + aj] ?? Number.NaN;
  const steps: Readonly<Record<string, readonly [number, number]>> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  };
  const hold = (x: number): number => Math.max(0, Math.min(S - 1, x));
  return (
    <figure className="heat">
      <figcaption>{title}</figcaption>
      <button
        type="button"
        aria-label={`${title}: query ${ai}, key ${aj}: ${Number.isNaN(value) ? 'hidden' : value.toFixed(4)}. Arrow keys choose another pair.`}
        onKeyDown={event => {
          const step = steps[event.key];
          if (!step) return;
          event.preventDefault();
          onChoose(hold(ai + step[0]), hold(aj + step[1]));
        }}
        onPointerMove={event => {
          const box = event.currentTarget.getBoundingClientRect();
          const i = Math.floor(((event.clientY - box.top) / box.height) * S);
          const j = Math.floor(((event.clientX - box.left) / box.width) * S);
          if (hold(i) !== ai || hold(j) !== aj) onChoose(hold(i), hold(j));
        }}
      >
        <svg viewBox={`0 0 ${S} ${S}`} aria-hidden="true">
          <defs>
            <pattern
              id={pattern}
              width="0.5"
              height="0.5"
              patternUnits="userSpaceOnUse"
              patternTransform="rotate(45)"
            >
              <rect width="0.5" height="0.5" fill="var(--sunken)" />
              <rect width="0.12" height="0.5" fill="var(--line)" />
            </pattern>
          </defs>
          <rect width={S} height={S} fill={`url(#${pattern})`} />
          {Array.from(values, (x, n) => ({ x, n })).map(({ x, n }) => {
            if (Number.isNaN(x)) return null;
            const share = Math.round((100 * Math.abs(x)) / most);
            const hue = scale === 'diverging' && x < 0 ? 'var(--write)' : 'var(--read)';
            return (
              <rect
                key={n}
                x={n % S}
                y={Math.floor(n / S)}
                width="1.02"
                height="1.02"
                fill={`color-mix(in oklch, ${hue} ${share}%, var(--surface))`}
              />
            );
          })}
          <rect className="cursor" x={aj} y={ai} width="1" height="1" />
        </svg>
      </button>
      <p className="mono">{Number.isNaN(value) ? 'hidden' : value.toFixed(4).replace('-', '−')}</p>
    </figure>
  );
}
