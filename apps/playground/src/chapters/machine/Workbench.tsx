import { useMemo } from 'react';
import { isSolved, type Problem } from '../../machine/check.ts';
import { completionsFor } from '../../machine/completion.ts';
import type { Machine } from '../../machine/machine.ts';
import { parseProgram } from '../../machine/parse.ts';
import { type Run, runProgram } from '../../machine/run.ts';
import { Player } from '../../ui/Player.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Stats } from '../../ui/Stats.tsx';
import { usePlayback } from '../../ui/usePlayback.ts';
import { MachineView } from './MachineView.tsx';
import { ProgramEditor } from './ProgramEditor.tsx';
import { TraceTable } from './TraceTable.tsx';
import './workbench.css';

interface WorkbenchProps<V> {
  readonly machine: Machine<V>;
  readonly problem: Problem<V>;
  readonly program: string;
  readonly onChange: (program: string) => void;
  /** What is worth saying about a solution, e.g. how near it is to the optimum. */
  readonly verdict?: (run: Run<V>) => string;
}

/** An exercise: the task, a program to write, the machine that runs it step by step, and what is still missing. */
export function Workbench<V>({ machine, problem, program: text, onChange, verdict }: WorkbenchProps<V>) {
  const program = useMemo(() => parseProgram(text, machine), [text, machine]);
  const run = useMemo(() => runProgram(program, machine), [program, machine]);
  const errors = useMemo(
    () => (program.errors.length > 0 ? program.errors : run.error ? [run.error] : []),
    [program, run],
  );
  const playback = usePlayback(run.steps.length, 550);
  const step = run.steps[playback.at - 1] ?? null;
  const final = run.steps.at(-1)?.counts;
  const counts = step?.counts ?? { loads: 0, stores: 0, computes: 0, cycles: 0 };
  const criteria = problem.criteria(run);
  const solved = program.errors.length === 0 && isSolved(problem, run);
  return (
    <div className="workbench">
      <div className="workbench-side">
        <ProgramEditor
          label={`Program: ${problem.title}`}
          value={text}
          onChange={onChange}
          errors={errors}
          line={step?.line ?? null}
          complete={before => completionsFor(before, machine)}
        />
        <ul className="errors" role="alert">
          {errors.map(({ line, message }) => (
            <li key={line}>
              Line {line}: {message}
            </li>
          ))}
        </ul>
        <ul className="criteria" aria-label="What a solution must do">
          {criteria.map(({ label, met, found }) => (
            <li key={label} data-met={met}>
              <span>
                {label}
                <span className="visually-hidden">{met ? ' (met)' : ' (not met yet)'}</span>
                {!met && found && text.trim() !== '' && <em> · {found}</em>}
              </span>
            </li>
          ))}
        </ul>
        {solved && (
          <p className="solved" role="status">
            Solved in {final?.cycles} cycles. {verdict?.(run)}
          </p>
        )}
        {problem.hints.map((hint, n) => (
          <Reveal key={hint} summary={`Hint ${n + 1}`}>
            <p>{hint}</p>
          </Reveal>
        ))}
        <Reveal summary="Show a solution">
          <p>This replaces your program.</p>
          <div className="toolbar">
            <button type="button" className="button" onClick={() => onChange(problem.solution)}>
              Put it into the editor
            </button>
          </div>
        </Reveal>
      </div>
      <div className="workbench-main">
        <MachineView machine={machine} state={step?.state ?? run.start} step={step} />
        <div className="toolbar">
          <Player playback={playback} unit="instruction" />
        </div>
        <Stats
          items={[
            ['Loads', counts.loads],
            ['Compute', counts.computes],
            ['Stores', counts.stores],
            ['Cycles', counts.cycles],
          ]}
        />
        <TraceTable machine={machine} run={run} at={playback.at} onSeek={playback.seek} />
      </div>
    </div>
  );
}
