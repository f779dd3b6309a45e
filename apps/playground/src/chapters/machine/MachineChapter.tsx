import { useMemo } from 'react';
import { Quiz } from '../../exercises/quiz/Quiz.tsx';
import { MachineExercise } from '../../exercises/workbench/MachineExercise.tsx';
import { InstructionTable } from '../../exercises/workbench/machine/InstructionTable.tsx';
import {
  matrixMachine,
  matrixRegisterCounts,
  type Wiring,
} from '../../logic/machine/matrix/matrix-machine.ts';
import { fewestFor, matrixProblems } from '../../logic/machine/matrix/matrix-problems.ts';
import { useProgram } from '../../state/kept-programs.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { formulas } from '../formulas.ts';
import { FewestCycles } from './FewestCycles.tsx';
import { ProductStyles } from './ProductStyles.tsx';

const ids = matrixProblems.map(({ id }) => id);
const wirings: readonly Wiring[] = ['fixed', 'any'];

/** A machine that multiplies 2 × 2 matrices, to be programmed. */
export default function MachineChapter() {
  const { machine: text, bench } = useText();
  const [id, setId] = useUrlChoice('problem', 'one-element', ids);
  const problem = matrixProblems.find(p => p.id === id);
  const [registers, setRegisters] = useUrlNumber('registers', problem?.registers ?? 3, { min: 3, max: 6 });
  const [wiring, setWiring] = useUrlChoice<Wiring>('wiring', 'fixed', wirings);
  const kept = useProgram(id);
  const machine = useMemo(() => matrixMachine(registers, wiring), [registers, wiring]);
  if (!problem) return null;
  const fewest = fewestFor(machine);
  return (
    <div className="stack">
      <div className="prose">
        <p>
          <Rich text={text.intro} />
        </p>
        <Formula block tex={formulas.product} />
        <Reveal summary={bench.instructionSet}>
          <InstructionTable machine={machine} />
        </Reveal>
      </div>
      <MachineExercise
        ids={ids}
        numberOf={next => ids.indexOf(next) + 1}
        onChoose={next => {
          setRegisters(matrixProblems.find(p => p.id === next)?.registers ?? 3);
          setId(next);
        }}
        controls={
          <>
            <div className="choice">
              <span aria-hidden="true">{text.registers}</span>
              <Segmented
                label={text.registers}
                value={String(registers)}
                options={matrixRegisterCounts.map(count => ({ value: String(count), label: String(count) }))}
                onChange={count => setRegisters(Number(count))}
              />
            </div>
            <div className="choice">
              <span aria-hidden="true">{text.wiring}</span>
              <Segmented
                label={text.wiring}
                value={wiring}
                options={wirings.map(value => ({ value, label: text.wirings[value] }))}
                onChange={setWiring}
              />
            </div>
          </>
        }
        machine={machine}
        problem={problem}
        kept={kept}
        verdict={run => {
          if (problem.id === 'one-element') return text.noProgramForOne;
          const cycles = run.steps.at(-1)?.counts.cycles ?? 0;
          return cycles <= fewest ? text.optimum(registers) : text.fewer(registers, fewest);
        }}
      />
      <Quiz id="three-registers" />
      <Quiz id="inner-six">
        <Reveal summary={text.canItBeFewer}>
          <Paragraphs text={text.fewest} />
          <FewestCycles />
        </Reveal>
      </Quiz>
      <div className="stack tight">
        <Reveal summary={text.styles}>
          <ProductStyles />
          <p>
            <Rich text={text.stylesWhy} />
          </p>
        </Reveal>
      </div>
    </div>
  );
}
