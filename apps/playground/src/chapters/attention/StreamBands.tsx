import { useRef } from 'react';
import type { StreamStep } from '../../logic/streaming/softmax-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { useNarrow } from '../../ui/figures/useNarrow.ts';
import { example } from './example.ts';
import { type BandLayout, narrowLayout, wideLayout } from './stream-layout.ts';

const { x, v } = example;
const keys = x.map((score, j) => ({ score, j, values: v[j] ?? [] }));

/**
 * Scores with the running maximum; below them the weight of each key relative to that maximum; below those
 * the value vectors.
 */
export function StreamBands({ step }: { readonly step: StreamStep | null }) {
  const { attention: text } = useText();
  const { fixed } = useNumbers();
  const place = useRef<HTMLDivElement>(null);
  const layout = useNarrow(place, 544) ? narrowLayout : wideLayout;
  const { slot, left, width, height, scores, weights, values, yOf } = layout;
  const m = step?.merge.state.m ?? null;
  const seen = step?.end ?? 0;
  const weightOf = (score: number, j: number): number => (m === null || j >= seen ? 0 : Math.exp(score - m));
  const axes = [yOf(0), weights.y + weights.height];
  return (
    <div ref={place}>
      <svg
        className="stream"
        data-narrow={layout.isNarrow}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={text.figure(x.length, seen, m === null ? null : fixed(m, 3))}
      >
        {step && (
          <rect
            className="current"
            x={left + step.first * slot}
            y={0}
            width={(step.end - step.first) * slot}
            height={height}
            rx="8"
          />
        )}
        <BandLabel layout={layout} y={scores.y} label={text.scores} symbol="x" formula="xⱼ" />
        <BandLabel layout={layout} y={weights.y} label={text.weights} formula="e^(xⱼ − m)" />
        <BandLabel layout={layout} y={values.y} label={text.values} symbol="v" formula="vⱼ" />
        {axes.map(y => (
          <line key={y} className="axis" x1={left} x2={width} y1={y} y2={y} />
        ))}
        {keys.map(key => (
          <KeyColumn
            key={key.j}
            {...key}
            layout={layout}
            weight={weightOf(key.score, key.j)}
            isSeen={key.j < seen}
          />
        ))}
        {m !== null && (
          <g className="maximum" data-symbol="m" style={{ transform: `translateY(${yOf(m)}px)` }}>
            <line x1={left} x2={width} y1="0" y2="0" />
            <text x={left + 6} y="-6">
              m = {fixed(m, 2)}
            </text>
          </g>
        )}
      </svg>
    </div>
  );
}

/** The name of a band, and its formula: beside the band, or in a line above it if the figure is narrow. */
function BandLabel(props: {
  readonly layout: BandLayout;
  readonly y: number;
  readonly label: string;
  readonly formula: string;
  readonly symbol?: string;
}) {
  const { layout, y, label, formula, symbol } = props;
  const below = layout.isNarrow ? { dx: 8 } : { x: 0, dy: 17 };
  return (
    <text className="band" x="0" y={layout.isNarrow ? y - 8 : y + 14}>
      <tspan>{label}</tspan>
      <tspan {...below} className="symbol" data-symbol={symbol}>
        {formula}
      </tspan>
    </text>
  );
}

/** A key: its score, its weight relative to the running maximum, its word, and its value vector. */
function KeyColumn(props: {
  readonly layout: BandLayout;
  readonly j: number;
  readonly score: number;
  readonly weight: number;
  readonly values: readonly number[];
  readonly isSeen: boolean;
}) {
  const { layout, j, score, weight, isSeen } = props;
  const { slot, weights, values, wordsAt, yOf } = layout;
  const at = layout.left + j * slot;
  const bar = { x: at + slot * 0.24, width: slot * 0.52, rx: 3 };
  const middle = at + slot / 2;
  return (
    <g>
      <rect
        {...bar}
        className="score"
        data-symbol="x"
        data-seen={isSeen}
        y={Math.min(yOf(score), yOf(0))}
        height={Math.max(2, Math.abs(yOf(score) - yOf(0)))}
      />
      <rect
        {...bar}
        className="weight"
        y={weights.y}
        height={weights.height}
        style={{ transform: `scaleY(${weight})` }}
      />
      {layout.isNarrow ? (
        <text className="word" transform={`translate(${middle + 4} ${wordsAt}) rotate(-90)`}>
          {example.words[j]}
        </text>
      ) : (
        <text className="word" x={middle} y={wordsAt}>
          {example.words[j]}
        </text>
      )}
      {props.values
        .map((value, c) => ({ value, c }))
        .map(({ value, c }) => (
          <rect
            {...bar}
            key={c}
            className="value"
            data-symbol="v"
            data-seen={isSeen}
            y={values.y + c * values.cell}
            height={values.cell - 3}
            fill={`color-mix(in oklch, var(--compute) ${Math.round(100 * value)}%, var(--sunken))`}
          />
        ))}
    </g>
  );
}
