import { useMemo } from 'react';
import { useUrlNumber, useUrlState } from '../../app/url-state.ts';
import { matrixMachine, matrixRegisterCounts } from '../../machine/matrix/matrix-machine.ts';
import { fewestCycles, matrixProblems } from '../../machine/matrix/matrix-problems.ts';
import { Formula } from '../../ui/Formula.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Segmented } from '../../ui/Segmented.tsx';
import { InstructionTable } from './InstructionTable.tsx';
import { Workbench } from './Workbench.tsx';

const [firstProblem] = matrixProblems;

/** Chapter 1: a machine that multiplies 2 × 2 matrices, to be programmed. */
export default function MachineChapter() {
  const [id, setId] = useUrlState('problem', firstProblem?.id ?? '');
  const problem = matrixProblems.find(p => p.id === id) ?? firstProblem;
  const [registers, setRegisters] = useUrlNumber('registers', problem?.registers ?? 3, { min: 3, max: 6 });
  const [text, setText] = useUrlState('program', '');
  const machine = useMemo(() => matrixMachine(registers), [registers]);
  if (!problem) return null;
  const choose = (next: string): void => {
    setText('');
    setRegisters(matrixProblems.find(p => p.id === next)?.registers ?? 3);
    setId(next);
  };
  const fewest = fewestCycles[registers];
  return (
    <div className="stack">
      <div className="prose">
        <p>
          Memory is large and far away; registers are few and near. This machine has both, and a multiplier
          that reads its two operands from <code>R0</code> and <code>R1</code> only. Every instruction takes
          one cycle. What is fast here is what is fast on a GPU: reuse a number while it is near.
        </p>
        <Formula block tex="C = A \times B, \qquad c_{ij} = \sum_k a_{ik}\, b_{kj}" />
        <Reveal summary="The instruction set">
          <InstructionTable machine={machine} />
        </Reveal>
      </div>
      <section className="panel" aria-labelledby="exercise-title">
        <div className="exercise-head">
          <Segmented
            label="Exercise"
            value={problem.id}
            options={matrixProblems.map((p, n) => ({ value: p.id, label: `Problem ${n + 1}` }))}
            onChange={choose}
          />
          <Segmented
            label="Registers"
            value={String(registers)}
            options={matrixRegisterCounts.map(count => ({
              value: String(count),
              label: `${count} registers`,
            }))}
            onChange={count => setRegisters(Number(count))}
          />
        </div>
        <h2 id="exercise-title">{problem.title}</h2>
        <p>{problem.task}</p>
        <Workbench
          key={`${problem.id} ${registers}`}
          machine={machine}
          problem={problem}
          program={text}
          onChange={setText}
          verdict={run => {
            const cycles = run.steps.at(-1)?.counts.cycles ?? 0;
            if (problem.id === 'one-element')
              return 'Four operands, two products, one store: no program takes fewer.';
            if (fewest === undefined) return '';
            if (cycles <= fewest)
              return `No program for ${registers} registers takes fewer: every one was tried.`;
            return `With ${registers} registers it can be done in ${fewest}.`;
          }}
        />
      </section>
      <Reveal summary="Can it be done in fewer cycles?">
        <p>
          An exhaustive search over all programs gives the answer: with three registers 25 cycles, with four
          or five 23, with six 22. More registers keep more partial sums near, so that each loaded number
          meets more of its partners before it is replaced.
        </p>
      </Reveal>
      <Reveal summary="Why three registers at least?">
        <p>
          Two feed the multiplier, and loading the next pair overwrites them. The sum so far needs a third. On
          newer GPUs the matrix unit keeps that accumulator inside itself, which frees registers for operands.
        </p>
      </Reveal>
    </div>
  );
}
