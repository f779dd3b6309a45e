import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { noteDone, useProgress } from '../../state/progress.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import { answers, type Given, isRight, type QuizId } from './answers.ts';
import { QuizFields } from './QuizFields.tsx';
import { type QuizState, QuizVerdict } from './QuizVerdict.tsx';
import './quiz.css';

/** The number of wrong answers after which the right one is offered. */
const wrongAnswersAllowed = 2;

/**
 * A question that the visitor answers before reading its explanation. A wrong answer gets a hint. The
 * children are shown with the explanation, after its first paragraph.
 */
export function Quiz({ id, children }: { readonly id: QuizId; readonly children?: ReactNode }) {
  const { quizzes } = useText();
  const { significant } = useNumbers();
  const name = useId();
  const done = useProgress()[`quiz.${id}`] !== undefined;
  const [given, setGiven] = useState<Given>({ chosen: [], written: '' });
  const [wrong, setWrong] = useState(0);
  const [state, setState] = useState<QuizState>('open');
  const { words } = quizzes;
  const { question, nudge, why, ...rest } = quizzes[id];
  const options = 'options' in rest ? rest.options : [];
  const answer = answers[id];
  const over = state === 'right' || state === 'shown';
  const check = (event: FormEvent): void => {
    event.preventDefault();
    const right = isRight(answer, given);
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
  return (
    <form className="quiz" id={`quiz-${id}`} onSubmit={check} aria-labelledby={`${name}-question`}>
      <p className="quiz-mark" aria-hidden="true">
        {words.quiz} {done && '✓'}
      </p>
      <p id={`${name}-question`}>
        <Rich text={question} />
      </p>
      <QuizFields name={name} kind={answer.kind} options={options} given={given} onChange={setGiven} />
      <div className="toolbar">
        <button
          type="submit"
          className="button"
          disabled={over || (given.chosen.length === 0 && given.written === '')}
        >
          {words.check}
        </button>
        {!over && wrong >= wrongAnswersAllowed && (
          <button type="button" className="button" onClick={() => setState('shown')}>
            {words.show}
          </button>
        )}
      </div>
      <QuizVerdict state={state} hint={nudge} answer={rightText} explanation={why}>
        {children}
      </QuizVerdict>
    </form>
  );
}
