import { type ReactNode, useMemo } from 'react';
import type { Problem } from '../../logic/machine/check.ts';
import type { Machine } from '../../logic/machine/machine.ts';
import { parseProgram } from '../../logic/machine/program/parse.ts';
import { runProgram } from '../../logic/machine/run.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { TraceTable } from './machine/TraceTable.tsx';

/** The program that solves an exercise, with its full trace; it can be put into the editor. */
export function Solution<V>(props: {
  readonly machine: Machine<V>;
  readonly problem: Problem<V>;
  readonly onTake: (program: string) => void;
}) {
  const { machine, problem, onTake } = props;
  const { solution, registers } = problem;
  const { bench } = useText();
  const program = useMemo(() => parseProgram(solution, machine), [solution, machine]);
  const run = useMemo(() => runProgram(program, machine), [program, machine]);
  if (program.errors.length > 0) return <p>{bench.needsRegisters(registers)}</p>;
  return (
    <SolutionText program={solution} onTake={onTake}>
      <Reveal summary={bench.fullTrace}>
        <TraceTable label={bench.solutionTrace} machine={machine} run={run} at={run.steps.length} />
      </Reveal>
    </SolutionText>
  );
}

/** The text of a solution and a button that puts it into the editor, with the children in between. */
export function SolutionText(props: {
  readonly program: string;
  readonly onTake: (program: string) => void;
  readonly children?: ReactNode;
}) {
  const { program, onTake, children } = props;
  const { bench } = useText();
  return (
    <>
      <pre className="program">{program}</pre>
      {children}
      <div className="toolbar">
        <button type="button" className="button" onClick={() => onTake(program)}>
          {bench.tryIt}
        </button>
        <span className="note">{bench.replaces}</span>
      </div>
    </>
  );
}
