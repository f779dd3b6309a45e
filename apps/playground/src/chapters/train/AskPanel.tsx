import type { FormEvent } from 'react';
import type { Training } from '../../logic/train/training-run.ts';
import type { TrainingState } from '../../logic/train/training-state.ts';
import { useUrlNumber, useUrlState } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Slider } from '../../ui/controls/Slider.tsx';
import { SectionTitle } from '../../ui/prose/SectionTitle.tsx';

/** Lets the model continue a text. */
export function AskPanel(props: {
  readonly state: TrainingState;
  readonly recall: boolean;
  readonly sample: Training['sample'];
}) {
  const { state, recall, sample } = props;
  const text = useChapterText('train');
  const numbers = useNumbers();
  const probe = state.ready?.probe ?? [];
  // In the recall task, the prompt is the pairs and the first letter that is repeated.
  const usual = probe.slice(0, probe.length / 2 + 1).join('');
  const [prompt, setPrompt] = useUrlState('prompt', usual);
  const [tenths, setTenths] = useUrlNumber('temperature', recall ? 0 : 8, { min: 0, max: 15 });
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    sample({ prompt, count: recall ? 1 : 160, temperature: tenths / 10 });
  };
  // The visitor may have changed the prompt since.
  const asked = state.sample?.prompt ?? '';
  const right = recall ? answerOf(asked) : undefined;
  return (
    <section className="panel" aria-labelledby="ask-title">
      <SectionTitle id="ask-title">{text.ask}</SectionTitle>
      <p>{recall ? text.askRecall : text.askText}</p>
      <form className="train-ask" onSubmit={ask}>
        <label>
          {text.prompt}
          <input
            type="text"
            value={prompt}
            spellCheck={false}
            autoComplete="off"
            onChange={event => setPrompt(event.currentTarget.value)}
          />
        </label>
        <Slider
          label={text.temperature}
          value={tenths}
          min={0}
          max={15}
          format={value => numbers.fixed(value / 10, 1)}
          onChange={setTenths}
        />
        <button type="submit" className="button primary" disabled={!state.ready || prompt === ''}>
          {text.goOn}
        </button>
      </form>
      <p className="train-sample" role="status">
        {state.sample && (
          <>
            <span>{asked}</span>
            <strong>{state.sample.text}</strong>
            {state.sample.done && right !== undefined && (
              <em data-right={state.sample.text === right}>
                {state.sample.text === right ? text.right : text.wrong(right)}
              </em>
            )}
          </>
        )}
        {state.refused && text.unknown(state.refused)}
      </p>
    </section>
  );
}

/** In the recall task: the character that followed the last character at its earlier occurrence. */
function answerOf(prompt: string): string | undefined {
  const at = prompt.indexOf(prompt.at(-1) ?? '');
  return at < prompt.length - 1 ? prompt[at + 1] : undefined;
}
