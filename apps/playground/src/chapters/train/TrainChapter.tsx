import { useMemo } from 'react';
import { fewestCharacters, hasEnoughText, setupKey, type TrainSetup } from '../../logic/train/training.ts';
import type { PastRun } from '../../logic/train/training-run.ts';
import { stepsAlike, type TrainingState } from '../../logic/train/training-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Stats } from '../../ui/figures/Stats.tsx';
import { EngineNote } from '../../ui/prose/EngineNote.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Paragraphs } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import { AskPanel } from './AskPanel.tsx';
import { AttentionPanel } from './AttentionPanel.tsx';
import { CurveChart } from './CurveChart.tsx';
import { useTrainOptions } from './TrainControls.tsx';
import './train.css';
import { useTraining } from './useTraining.ts';

/** A small transformer, trained in the page. */
export default function TrainChapter() {
  const text = useChapterText('train');
  const { setup: chosen, controls } = useTrainOptions();
  const { whole } = useNumbers();
  const { state, past, run, pause, startOver, sample } = useTraining();
  const setup = state.setup ?? chosen;
  const others = setupKey(chosen) !== setupKey(setup);
  const running = state.status === 'running';
  const begun = state.status !== 'idle';
  return (
    <div className="stack">
      <div className="prose">
        <Paragraphs text={text.intro} />
      </div>
      <Section id="train" title={text.title}>
        {controls}
        <div className="toolbar">
          <button
            type="button"
            className="button primary"
            disabled={state.status === 'failed' || !hasEnoughText(setup)}
            onClick={() => (running ? pause() : run(chosen, Number.POSITIVE_INFINITY))}
          >
            {running ? text.pause : begun ? text.resume : text.start}
          </button>
          <button
            type="button"
            className="button"
            disabled={running || state.status === 'failed' || !hasEnoughText(setup)}
            onClick={() => run(chosen, 10)}
          >
            {text.tenSteps}
          </button>
          <button type="button" className="button" disabled={!begun} onClick={startOver}>
            {text.startOver}
          </button>
        </div>
        {setup.text !== null && !hasEnoughText(setup) && (
          <p className="note" role="status">
            {text.tooShort([...setup.text].length, fewestCharacters)}
          </p>
        )}
        {others && (
          <p className="note" role="status">
            {text.otherSettings}
          </p>
        )}
        {state.again > 0 && (
          <p className="note" role="status">
            {text.keptRun(state.losses.length, state.again, whole)}
          </p>
        )}
        {state.failed && (
          <p className="failure" role="alert">
            <strong>{text.failed}</strong> <span lang="en">{state.failed}</span>
          </p>
        )}
        {begun && !state.failed && <Progress state={state} past={past} setup={setup} />}
      </Section>
      {state.ready && (
        <>
          <AttentionPanel moments={state.moments} probe={state.ready.probe} />
          <AskPanel state={state} recall={setup.text === null} sample={sample} />
        </>
      )}
      <References ids={['olsson', 'vaswani']} />
    </div>
  );
}

function Progress(props: {
  readonly state: TrainingState;
  readonly past: readonly PastRun[];
  readonly setup: TrainSetup;
}) {
  const { state, past, setup } = props;
  const text = useChapterText('train');
  const numbers = useNumbers();
  const { losses, accuracies, heldOut, ready } = state;
  const before = useMemo(() => past.map(run => run.losses), [past]);
  const heldOutLoss = useMemo(() => heldOut.map(({ step, loss }) => [step, loss] as const), [heldOut]);
  const heldOutAccuracy = useMemo(
    () => heldOut.map(({ step, accuracy }) => [step, accuracy] as const),
    [heldOut],
  );
  const same = [...past].reverse().find(({ key }) => key === setupKey(setup));
  const recent = (values: readonly number[]): number => {
    const last = values.slice(-10);
    return last.reduce((sum, x) => sum + x, 0) / last.length;
  };
  return (
    <>
      <Stats
        items={[
          [text.step, numbers.whole(losses.length)],
          [text.loss, losses.length > 0 ? numbers.fixed(recent(losses), 3) : '–'],
          [text.accuracy, accuracies.length > 0 ? numbers.percent(recent(accuracies)) : '–'],
          // A run that was restored has not taken a step here yet.
          [text.perStep, state.ms > 0 ? `${numbers.significant(state.ms, 3)} ms` : '–'],
          ...(ready ? [[text.parameters, numbers.whole(ready.parameters)] as const] : []),
        ]}
      />
      <div className="train-curves">
        <CurveChart
          title={text.lossCurve}
          steps={text.step}
          values={losses}
          past={before}
          heldOut={heldOutLoss}
        />
        <CurveChart
          title={text.accuracyCurve}
          steps={text.step}
          values={accuracies}
          past={[]}
          heldOut={heldOutAccuracy}
          top={1}
          format={numbers.percent}
        />
      </div>
      <p className="note" role="status">
        {same &&
          losses.length > 0 &&
          text.sameCurve(
            stepsAlike(losses, same.losses),
            Math.min(losses.length, same.losses.length),
            numbers.whole,
          )}
      </p>
      {ready ? (
        <EngineNote opened={ready.opened} />
      ) : (
        state.status === 'running' && <p className="note">{text.starting}</p>
      )}
    </>
  );
}
