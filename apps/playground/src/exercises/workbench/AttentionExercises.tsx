import { useMemo } from 'react';
import {
  type AttentionProblemId,
  attentionProblems,
  visibleMachine,
} from '../../logic/machine/attention/attention-problems.ts';
import { parseProgram } from '../../logic/machine/program/parse.ts';
import { runProgram } from '../../logic/machine/run.ts';
import { useProgram } from '../../state/kept-programs.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import { MachineExercise } from './MachineExercise.tsx';
import { InstructionTable } from './machine/InstructionTable.tsx';

/** Problems 1 to 6 belong to the earlier chapters. */
const firstNumber = 7;

/** Some of the exercises on the attention machine, one at a time. */
export function AttentionExercises({
  ids,
}: {
  readonly ids: readonly [AttentionProblemId, ...AttentionProblemId[]];
}) {
  const { bench } = useText();
  const [id, setId] = useUrlChoice('problem', ids[0], ids);
  const kept = useProgram(id);
  const problem = attentionProblems.find(p => p.id === id);
  const step = problem?.multipleOf ?? 1;
  const [wanted, setN] = useUrlNumber('n', 4, { min: 1, max: 6 });
  const n = Math.max(step, wanted - (wanted % step));
  const machine = useMemo(() => problem && visibleMachine(problem, n), [problem, n]);
  const bestKnown = useMemo(() => {
    if (!machine || !problem) return 0;
    return runProgram(parseProgram(problem.solution, machine), machine).steps.length;
  }, [machine, problem]);
  if (!problem || !machine) return null;
  return (
    <MachineExercise
      ids={ids}
      numberOf={next => firstNumber + attentionProblems.findIndex(p => p.id === next)}
      onChoose={setId}
      controls={
        <Slider
          label={bench.sizes[problem.arrays]}
          value={n}
          min={step}
          max={6}
          step={step}
          onChange={setN}
        />
      }
      machine={machine}
      problem={problem}
      kept={kept}
      at="ran"
      bestKnown={bestKnown}
      verdict={({ steps }) => {
        const { loads = 0, stores = 0 } = steps.at(-1)?.counts ?? {};
        return bench.traffic(loads, stores);
      }}
    >
      <Reveal summary={bench.instructionSet}>
        <InstructionTable machine={machine} />
        <p>
          <Rich text={bench.vectors} />
        </p>
      </Reveal>
    </MachineExercise>
  );
}
