import { useMemo } from 'react';
import { output, streamRow } from '../../streaming/softmax-state.ts';
import { Player } from '../../ui/Player.tsx';
import { Slider } from '../../ui/Slider.tsx';
import { usePlayback } from '../../ui/usePlayback.ts';
import { example } from './example.ts';
import './attention.css';

const { x, v } = example;
const keys = x.map((score, j) => ({ score, j }));
const width = 640;
const height = 190;
const slot = width / x.length;
const bottom = Math.min(...x) - 0.4;
const top = Math.max(...x) + 0.4;
const yOf = (score: number): number => height - ((score - bottom) / (top - bottom)) * height;
const shown = (value: number): string => (Number.isFinite(value) ? value.toFixed(3).replace('-', '−') : '−∞');

/** The scores of one query as they stream by, the running maximum over them, and the running sums. */
export function StreamFigure({
  tile,
  onTile,
}: {
  readonly tile: number;
  readonly onTile: (tile: number) => void;
}) {
  const steps = useMemo(() => streamRow(x, v, tile), [tile]);
  const playback = usePlayback('at', steps.length, 700);
  const step = steps[playback.at - 1];
  const state = step?.merge.state;
  const result = state ? output(state) : null;
  return (
    <div className="stack">
      <div className="toolbar">
        <Player playback={playback} unit="tile" />
        <Slider label="Keys per tile" value={tile} min={1} max={x.length} onChange={onTile} />
        <Slider label="Position" value={playback.at} min={0} max={steps.length} onChange={playback.seek} />
      </div>
      <svg
        className="stream"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Scores of ${x.length} keys; ${step?.end ?? 0} have been seen, the maximum of these is ${state ? shown(state.m) : 'not known'}`}
      >
        {step && (
          <rect
            className="current"
            x={step.first * slot}
            y={0}
            width={(step.end - step.first) * slot}
            height={height}
            rx="6"
          />
        )}
        <line className="axis" x1="0" x2={width} y1={yOf(0)} y2={yOf(0)} />
        {keys.map(({ score, j }) => {
          const seen = j < (step?.end ?? 0);
          return (
            <rect
              key={j}
              className="score"
              data-seen={seen}
              x={j * slot + slot * 0.22}
              width={slot * 0.56}
              y={Math.min(yOf(score), yOf(0))}
              height={Math.max(2, Math.abs(yOf(score) - yOf(0)))}
              rx="3"
            />
          );
        })}
        {state && (
          <g className="maximum" style={{ transform: `translateY(${yOf(state.m)}px)` }}>
            <line x1="0" x2={width} y1="0" y2="0" />
            <text x={width - 4} y="-6">
              m = {shown(state.m)}
            </text>
          </g>
        )}
      </svg>
      <dl className="running">
        <div>
          <dt>Factor of what was kept</dt>
          <dd>{step ? shown(step.merge.factors[0]) : '–'}</dd>
        </div>
        <div>
          <dt>Denominator d</dt>
          <dd>{state ? shown(state.d) : '–'}</dd>
        </div>
        <div>
          <dt>Numerator</dt>
          <dd>{state ? `(${state.num.map(shown).join(', ')})` : '–'}</dd>
        </div>
        <div>
          <dt>o = numerator / d</dt>
          <dd>{result ? `(${result.map(shown).join(', ')})` : '–'}</dd>
        </div>
      </dl>
      <p className="note">
        {playback.at === steps.length
          ? 'All keys are seen: o is the attention output. It is the same for every tile size.'
          : 'o is right for the keys seen so far at every moment.'}
      </p>
    </div>
  );
}
