import { type ReactNode, useMemo, useState } from 'react';
import { keepText, keptText } from '../../logic/train/kept-text.ts';
import type { TrainSetup } from '../../logic/train/training.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { pageText } from '../../text/page-text.ts';
import { useText } from '../../text/TextProvider.tsx';
import { useChapterText } from '../../text/useChapterText.ts';
import { Choice } from '../../ui/controls/Choice.tsx';
import { FileButton } from '../../ui/controls/FileButton.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';

/** The task and the model of a run. */
export interface TrainOptions {
  readonly setup: TrainSetup;
  readonly controls: ReactNode;
}

/**
 * The options of a run, with their controls; all but the visitor's own text are in the URL. The text is
 * stored.
 */
export function useTrainOptions(): TrainOptions {
  const catalogue = useText();
  const { percent } = useNumbers();
  const text = useChapterText('train');
  const [task, setTask] = useUrlChoice('task', 'recall', ['recall', 'page', 'own']);
  const [engine, setEngine] = useUrlChoice('engine', 'auto', ['auto', 'webgpu', 'cpu']);
  const [seed, setSeed] = useUrlNumber('seed', 1, { min: 0, max: 99 });
  const [layers, setLayers] = useUrlNumber('layers', 2, { min: 1, max: 4 });
  const [heads, setHeads] = useUrlChoice('heads', '4', ['1', '2', '4']);
  const [dim, setDim] = useUrlChoice('dim', '32', ['16', '32', '64']);
  const [dropout, setDropout] = useUrlNumber('dropout', 10, { min: 0, max: 50 });
  const [own, setOwn] = useState(keptText);
  const write = (next: string): void => {
    keepText(next);
    setOwn(next);
  };
  const page = useMemo(() => pageText(catalogue), [catalogue]);
  const learnt = { recall: null, page, own }[task];
  return {
    setup: {
      engine,
      text: learnt,
      seed,
      layers,
      heads: Number(heads),
      dim: Number(dim),
      dropout: dropout / 100,
    },
    controls: (
      <>
        <div className="train-controls">
          <Choice label={text.task} value={task} options={text.tasks} onChange={setTask} />
          <Choice
            label={catalogue.engine.label}
            value={engine}
            options={catalogue.engine.choices}
            onChange={setEngine}
          />
          <Choice
            label={text.headCount}
            value={heads}
            options={{ '1': '1', '2': '2', '4': '4' }}
            onChange={setHeads}
          />
          <Choice
            label={text.width}
            value={dim}
            options={{ '16': '16', '32': '32', '64': '64' }}
            onChange={setDim}
          />
          <Slider label={text.layers} value={layers} min={1} max={4} onChange={setLayers} />
          <Slider
            label={text.dropout}
            value={dropout}
            min={0}
            max={50}
            step={5}
            format={value => percent(value / 100)}
            onChange={setDropout}
          />
          <Slider label={text.seed} value={seed} min={0} max={99} onChange={setSeed} />
        </div>
        <p className="note">{text.taskWhy[task]}</p>
        {task === 'own' && <OwnText value={own} onChange={write} />}
      </>
    ),
  };
}

function OwnText({ value, onChange }: { readonly value: string; readonly onChange: (text: string) => void }) {
  const text = useChapterText('train');
  return (
    <div className="train-own">
      <label>
        {text.ownText}
        <textarea
          rows={5}
          value={value}
          placeholder={text.ownPlaceholder}
          onChange={event => onChange(event.currentTarget.value)}
        />
      </label>
      <FileButton
        label={text.ownFile}
        accept="text/*,.txt,.md"
        onFile={async file => onChange(await file.text())}
      />
    </div>
  );
}
