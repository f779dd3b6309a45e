import { useText } from '../../text/TextProvider.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import type { Answer, Given } from './answers.ts';

/** The fields for an answer: a number, one option, or several. */
export function QuizFields(props: {
  /** The name of the options' group in the form. */
  readonly name: string;
  readonly kind: Answer['kind'];
  readonly options: readonly string[];
  readonly given: Given;
  readonly onChange: (given: Given) => void;
}) {
  const { name, kind, options, given, onChange } = props;
  const { words } = useText().quizzes;
  if (kind === 'number')
    return (
      <label className="field">
        {words.answer}
        <input
          value={given.written}
          inputMode="decimal"
          autoComplete="off"
          size={8}
          onChange={event => onChange({ ...given, written: event.currentTarget.value })}
        />
      </label>
    );
  const isSeveral = kind === 'several';
  const choose = (place: number, checked: boolean): void => {
    const others = isSeveral ? given.chosen.filter(other => other !== place) : [];
    onChange({ ...given, chosen: checked ? [...others, place] : others });
  };
  return (
    <fieldset className="quiz-options">
      <legend className={isSeveral ? 'note' : 'visually-hidden'}>
        {isSeveral ? words.several : words.answer}
      </legend>
      {options.map((option, place) => (
        <label key={option}>
          <input
            type={isSeveral ? 'checkbox' : 'radio'}
            name={name}
            checked={given.chosen.includes(place)}
            onChange={event => choose(place, event.currentTarget.checked)}
          />
          <span>
            <Rich text={option} />
          </span>
        </label>
      ))}
    </fieldset>
  );
}
