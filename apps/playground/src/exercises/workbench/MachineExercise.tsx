import type { ReactNode } from 'react';
import type { ProblemId } from '../../logic/machine/problem-ids.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import { SectionTitle } from '../../ui/prose/SectionTitle.tsx';
import { Workbench, type WorkbenchProps } from './Workbench.tsx';

interface MachineExerciseProps<V, Id extends ProblemId> extends WorkbenchProps<V> {
  /** The exercises to choose from. */
  readonly ids: readonly Id[];
  /** The number of an exercise among those of all chapters. */
  readonly numberOf: (id: Id) => number;
  readonly onChoose: (id: Id) => void;
  /** The controls of the machine. */
  readonly controls: ReactNode;
  /** The content below the workbench. */
  readonly children?: ReactNode;
}

/** One of several exercises on a machine: the choice, the task, and the workbench. */
export function MachineExercise<V, Id extends ProblemId>(props: MachineExerciseProps<V, Id>) {
  const { ids, numberOf, onChoose, controls, children, ...workbench } = props;
  const { problem, kept, at = 'at' } = workbench;
  const { bench } = useText();
  const [, setAt] = useUrlNumber(at, 0, { min: 0, max: 0 });
  return (
    <section className="panel" id="exercise" aria-labelledby="exercise-title">
      <div className="exercise-head">
        {ids.length > 1 && (
          <Segmented
            label={bench.exercise}
            value={problem.id as Id}
            options={ids.map(value => ({ value, label: bench.problem(numberOf(value)) }))}
            onChange={next => {
              kept.open(next);
              setAt(0);
              onChoose(next);
            }}
          />
        )}
        {controls}
      </div>
      <SectionTitle id="exercise-title">{bench.problems[problem.id].title}</SectionTitle>
      <p>
        <Rich text={bench.problems[problem.id].task} />
      </p>
      <Workbench key={problem.id} {...workbench} />
      {children}
    </section>
  );
}
