import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { noteDone, useProgress } from '../../state/progress.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import { answers, isRight, type QuizId } from './answers.ts';
import './quiz.css';

/** The number of wrong answers after which the right one is offered. */
const wrongAnswersAllowed = 2;

/**
 * A question that the visitor answers before reading its explanation. A wrong answer gets a nudge. The
 * children are shown with the explanation, after its first paragraph.
 */
export function Quiz({ id, children }: { readonly id: QuizId; readonly children?: ReactNode }) {
  const { quizzes } = useText();
  const { significant } = useNumbers();
  const name = useId();
  const done = useProgress()[`quiz.${id}`] !== undefined;
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const [written, setWritten] = useState('');
  const [wrong, setWrong] = useState(0);
  const [state, setState] = useState<'open' | 'wrong' | 'right' | 'shown'>('open');
  const { words } = quizzes;
  const { question, nudge, why, ...rest } = quizzes[id];
  const options = 'options' in rest ? rest.options : [];
  const answer = answers[id];
  const over = state === 'right' || state === 'shown';
  const check = (event: FormEvent): void => {
    event.preventDefault();
    const right = isRight(answer, { chosen, written });
    setState(right ? 'right' : 'wrong');
    if (right) noteDone(`quiz.${id}`);
    else setWrong(wrong + 1);
  };
  const rightText =
    answer.kind === 'number'
      ? significant(answer.right, 4)
      : [answer.right]
          .flat()
          .map(place => options[place] ?? '')
          .join('; ');
  const [first = '', ...others] = why;
  return (
    <form className="quiz" id={`quiz-${id}`} onSubmit={check} aria-labelledby={`${name}-question`}>
      <p className="quiz-mark" aria-hidden="true">
        {words.quiz} {done && '✓'}
      </p>
      <p id={`${name}-question`}>
        <Rich text={question} />
      </p>
      {answer.kind === 'number' ? (
        <label className="field">
          {words.answer}
          <input
            value={written}
            inputMode="decimal"
            autoComplete="off"
            size={8}
            onChange={event => setWritten(event.currentTarget.value)}
          />
        </label>
      ) : (
        <fieldset className="quiz-options">
          <legend className={answer.kind === 'several' ? 'note' : 'visually-hidden'}>
            {answer.kind === 'several' ? words.several : words.answer}
          </legend>
          {options.map((option, place) => (
            <label key={option}>
              <input
                type={answer.kind === 'several' ? 'checkbox' : 'radio'}
                name={name}
                checked={chosen.includes(place)}
                onChange={event => {
                  const { checked } = event.currentTarget;
                  const others = answer.kind === 'several' ? chosen.filter(other => other !== place) : [];
                  setChosen(checked ? [...others, place] : others);
                }}
              />
              <span>
                <Rich text={option} />
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <div className="toolbar">
        <button type="submit" className="button" disabled={over || (chosen.length === 0 && written === '')}>
          {words.check}
        </button>
        {!over && wrong >= wrongAnswersAllowed && (
          <button type="button" className="button" onClick={() => setState('shown')}>
            {words.show}
          </button>
        )}
      </div>
      <div role="status" className="quiz-verdict">
        {state === 'wrong' && (
          <p>
            <strong data-right={false}>{words.wrong}</strong> <Rich text={nudge} />
          </p>
        )}
        {over && (
          <>
            <p>
              {state === 'right' ? (
                <strong data-right={true}>{words.right}</strong>
              ) : (
                <Rich text={words.theAnswer(rightText)} />
              )}{' '}
              <Rich text={first} />
            </p>
            {children}
            {others.map(paragraph => (
              <p key={paragraph}>
                <Rich text={paragraph} />
              </p>
            ))}
          </>
        )}
      </div>
    </form>
  );
}
