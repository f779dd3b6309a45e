import type { ReactNode } from 'react';
import { useText } from '../../text/TextProvider.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';

/** Whether a question is unanswered, was answered wrongly or rightly, or has shown its answer. */
export type QuizState = 'open' | 'wrong' | 'right' | 'shown';

/**
 * The hint after a wrong answer, or the explanation after a right one. The children are shown after the first
 * paragraph of the explanation.
 */
export function QuizVerdict(props: {
  readonly state: QuizState;
  readonly hint: string;
  /** The right answer as text. */
  readonly answer: string;
  readonly explanation: readonly string[];
  readonly children?: ReactNode;
}) {
  const { state, hint, answer, explanation, children } = props;
  const { words } = useText().quizzes;
  const [first = '', ...others] = explanation;
  return (
    <div role="status" className="quiz-verdict">
      {state === 'wrong' && (
        <p>
          <strong data-right={false}>{words.wrong}</strong> <Rich text={hint} />
        </p>
      )}
      {(state === 'right' || state === 'shown') && (
        <>
          <p>
            {state === 'right' ? (
              <strong data-right={true}>{words.right}</strong>
            ) : (
              <Rich text={words.theAnswer(answer)} />
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
  );
}
