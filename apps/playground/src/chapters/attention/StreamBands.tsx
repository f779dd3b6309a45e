import { useEffect, useRef } from 'react';
import type { StreamStep } from '../../logic/streaming/softmax-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { example } from './example.ts';

const { x, v } = example;
const keys = x.map((score, j) => ({ score, j, values: v[j] ?? [] }));
const slot = 52;
const left = 64;
const width = left + slot * x.length;
const bottom = Math.min(...x) - 0.4;
const top = Math.max(...x) + 0.6;
/** The vertical positions of the bands: scores, weights, value vectors. */
const scores = { y: 8, height: 150 };
const weights = { y: 182, height: 84 };
const values = { y: 282, cell: 22 };
const wordsAt = values.y + 3 * values.cell + 14;
const height = wordsAt + 8;
const yOf = (score: number): number => scores.y + ((top - score) / (top - bottom)) * scores.height;

/**
 * Scores with the running maximum; below them the weight of each key relative to that maximum; below those
 * the value vectors.
 */
export function StreamBands({ step }: { readonly step: StreamStep | null }) {
  const { attention: text } = useText();
  const { fixed } = useNumbers();
  const m = step?.merge.state.m ?? null;
  const seen = step?.end ?? 0;
  const figure = useRef<SVGSVGElement>(null);
  const first = step?.first ?? 0;
  useEffect(() => {
    const region = figure.current?.closest('section');
    const svg = figure.current?.getBoundingClientRect();
    if (!region || !svg) return;
    const scale = svg.width / width;
    // On a narrow screen the keys scroll, so that the current ones stay in the middle.
    region.scrollLeft = (left + ((first + seen) / 2) * slot) * scale - region.clientWidth / 2;
  }, [first, seen]);
  const weightOf = (score: number, j: number): number => (m === null || j >= seen ? 0 : Math.exp(score - m));
  return (
    <svg
      ref={figure}
      className="stream"
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
      <BandLabel y={scores.y} label={text.scores} symbol="x" formula="xⱼ" />
      <BandLabel y={weights.y} label={text.weights} formula="e^(xⱼ − m)" />
      <BandLabel y={values.y} label={text.values} symbol="v" formula="vⱼ" />
      <line className="axis" x1={left} x2={width} y1={yOf(0)} y2={yOf(0)} />
      <line
        className="axis"
        x1={left}
        x2={width}
        y1={weights.y + weights.height}
        y2={weights.y + weights.height}
      />
      {keys.map(key => (
        <KeyColumn key={key.j} {...key} weight={weightOf(key.score, key.j)} isSeen={key.j < seen} />
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
  );
}

/** The name of a band, and its formula below. */
function BandLabel(props: {
  readonly y: number;
  readonly label: string;
  readonly formula: string;
  readonly symbol?: string;
}) {
  return (
    <text className="band" x="0" y={props.y + 14}>
      <tspan>{props.label}</tspan>
      <tspan x="0" dy="17" className="symbol" data-symbol={props.symbol}>
        {props.formula}
      </tspan>
    </text>
  );
}

/** A key: its score, its weight relative to the running maximum, its word, and its value vector. */
function KeyColumn(props: {
  readonly j: number;
  readonly score: number;
  readonly weight: number;
  readonly values: readonly number[];
  readonly isSeen: boolean;
}) {
  const { j, score, weight, isSeen } = props;
  const at = left + j * slot;
  const bar = { x: at + slot * 0.24, width: slot * 0.52, rx: 3 };
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
      <text className="word" x={at + slot / 2} y={wordsAt}>
        {example.words[j]}
      </text>
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
