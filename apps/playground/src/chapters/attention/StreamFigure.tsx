import { type ReactNode, useMemo } from 'react';
import { emptyState, output, streamRow } from '../../logic/streaming/softmax-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Player } from '../../ui/controls/Player.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { usePlayback } from '../../ui/controls/usePlayback.ts';
import { BesideText } from '../../ui/figures/BesideText.tsx';
import { TileRow } from '../../ui/tiles/TileRow.tsx';
import { channels, example } from './example.ts';
import { MergeEquations } from './MergeEquations.tsx';
import { StreamBands } from './StreamBands.tsx';
import './attention.css';

const { x, v } = example;

/**
 * One query and its keys as they stream by, a tile at a time: the figure, and the running state in numbers.
 */
export function StreamFigure(props: {
  readonly tile: number;
  readonly onTile: (tile: number) => void;
  /** The text beside the figure, before and after the running state. */
  readonly before: ReactNode;
  readonly after: ReactNode;
}) {
  const { tile, onTile } = props;
  const { attention: text } = useText();
  const numbers = useNumbers();
  const { fixed } = numbers;
  const steps = useMemo(() => streamRow(x, v, tile), [tile]);
  const playback = usePlayback('at', steps.length, 900, 3);
  const step = steps[playback.at - 1];
  const seen = step?.end ?? 0;
  const earlier = steps[playback.at - 2]?.merge.state ?? emptyState(channels);
  const state = step?.merge.state;
  const result = state ? output(state) : null;
  const number = (value: number): string => fixed(value, 3);
  const vector = (values: readonly number[]): string => numbers.vector(values, 3);
  return (
    <BesideText
      after={
        <>
          <dl className="running">
            <div data-symbol="m">
              <dt>{text.maximum}</dt>
              <dd>{state ? number(state.m) : '–'}</dd>
            </div>
            <div>
              <dt>{text.factorOfKept}</dt>
              <dd>{step ? number(step.merge.factors[0]) : '–'}</dd>
            </div>
            <div data-symbol="d">
              <dt>{text.denominator}</dt>
              <dd>{state ? number(state.d) : '–'}</dd>
            </div>
            <div data-symbol="num">
              <dt>{text.numerator}</dt>
              <dd>{state ? vector(state.num) : '–'}</dd>
            </div>
            <div data-symbol="o">
              <dt>{text.output}</dt>
              <dd>{result ? vector(result) : '–'}</dd>
            </div>
            <div>
              <dt>{text.numbersKept}</dt>
              <dd>{text.kept(state ? channels + 2 : 0, 2 * seen)}</dd>
            </div>
          </dl>
          {step && <MergeEquations a={earlier} b={step.tile} merge={step.merge} />}
          <p className="note">{seen === x.length ? text.allSeen : text.rightSoFar}</p>
          {props.after}
        </>
      }
      figure={
        <div className="stack">
          <div className="toolbar">
            <Player playback={playback} unit="tile" />
            <Slider
              label={text.keysPerTile}
              value={tile}
              min={1}
              max={x.length}
              onChange={next => {
                onTile(next);
                // As many keys as before, plus what completes a tile.
                playback.seek(Math.ceil(seen / next));
              }}
            />
            <Slider
              label={text.position}
              value={playback.at}
              min={0}
              max={steps.length}
              onChange={playback.seek}
            />
          </div>
          <StreamBands step={step ?? null} />
          <TileRow tiles={steps.length} at={playback.at} />
        </div>
      }
    >
      {props.before}
    </BesideText>
  );
}
