import { useMemo } from 'react';
import type { ProgramOfExercise } from '../../app/kept-programs.ts';
import { assess, type Problem } from '../../machine/check.ts';
import { completionsFor } from '../../machine/completion.ts';
import type { Machine } from '../../machine/machine.ts';
import type { MatrixProblemId } from '../../machine/matrix/matrix-problems.ts';
import type { Run } from '../../machine/run.ts';
import type { SoftmaxProblemId } from '../../machine/softmax/softmax-problems.ts';
import { say } from '../../text/say.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Player } from '../../ui/Player.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Rich } from '../../ui/Rich.tsx';
import { Stats } from '../../ui/Stats.tsx';
import { usePlayback } from '../../ui/usePlayback.ts';
import { MachineView } from './MachineView.tsx';
import { ProgramEditor } from './ProgramEditor.tsx';
import { Solution } from './Solution.tsx';
import { TraceTable } from './TraceTable.tsx';
import './workbench.css';

interface WorkbenchProps<V> {
  readonly machine: Machine<V>;
  readonly problem: Problem<V, MatrixProblemId | SoftmaxProblemId>;
  readonly kept: ProgramOfExercise;
  /** What is worth saying about a solution, e.g. how near it is to the optimum. */
  readonly verdict: (run: Run<V>) => string;
}

/**
 * An exercise: the task, a program to write, the machine that runs it step by step, and what is still
 * missing.
 */
export function Workbench<V>({ machine, problem, kept, verdict }: WorkbenchProps<V>) {
  const source = kept.program;
  const { bench } = useText();
  const words = bench.problems[problem.id];
  const { program, run, criteria, solved } = useMemo(
    () => assess(problem, source, machine),
    [problem, source, machine],
  );
  const errors = useMemo(() => {
    const found = program.errors.length > 0 ? program.errors : run.error ? [run.error] : [];
    return found.map(({ fault, ...where }) => ({ ...where, message: say(fault, bench.faults) }));
  }, [program, run, bench]);
  const playback = usePlayback('at', run.steps.length, 650);
  const step = run.steps[playback.at - 1] ?? null;
  const none = { loads: 0, stores: 0, computes: 0, cycles: 0 };
  const total = run.steps.at(-1)?.counts ?? none;
  const counts = step?.counts ?? none;
  const ofTotal = (name: keyof typeof none): string => `${counts[name]} / ${total[name]}`;
  return (
    <div className="workbench">
      <div className="workbench-side">
        <ProgramEditor
          label={bench.program(words.title)}
          placeholder={bench.placeholder}
          value={source}
          onChange={kept.edit}
          errors={errors}
          line={step?.line ?? null}
          complete={before => {
            const { replace, options } = completionsFor(before, machine);
            return {
              replace,
              options: options.map(({ label, what }) => ({
                label,
                detail:
                  what.kind === 'instruction'
                    ? `${what.signature}: ${what.meaning}`
                    : bench.completion[what.kind],
              })),
            };
          }}
        />
        <div className="toolbar">
          <button
            type="button"
            className="button"
            disabled={source.trim() === ''}
            onClick={() => kept.replace('')}
          >
            {bench.startOver}
          </button>
          {kept.restore && (
            <button type="button" className="button" onClick={kept.restore}>
              {bench.restore}
            </button>
          )}
        </div>
        <ul className="errors" role="alert">
          {errors.map(({ line, message }) => (
            <li key={line}>{bench.line(line, message)}</li>
          ))}
        </ul>
        <ul className="criteria" aria-label={bench.mustDo}>
          {criteria.map(({ demand, met, found }) => {
            const label = say(demand, bench.demands);
            return (
              <li key={label} data-met={met}>
                <span>
                  {label}
                  <span className="visually-hidden"> ({met ? bench.met : bench.notMet})</span>
                  {found && source.trim() !== '' && <em> · {say(found, bench.findings)}</em>}
                </span>
              </li>
            );
          })}
        </ul>
        {solved && (
          <p className="solved" role="status">
            {bench.solved(total.cycles)} {verdict(run)}
          </p>
        )}
      </div>
      <div className="workbench-main">
        <MachineView machine={machine} state={step?.state ?? run.start} step={step} />
        <div className="toolbar">
          <Player playback={playback} unit="instruction" />
        </div>
        <Stats
          items={[
            [bench.loads, ofTotal('loads')],
            [bench.computes, ofTotal('computes')],
            [bench.stores, ofTotal('stores')],
            [bench.cycles, ofTotal('cycles')],
          ]}
        />
        <TraceTable label={bench.trace} machine={machine} run={run} at={playback.at} onSeek={playback.seek} />
      </div>
      <div className="workbench-help">
        {words.hints.map((hint, n) => (
          <Reveal key={hint} summary={bench.hint(n + 1)}>
            <p>
              <Rich text={hint} />
            </p>
            {problem.pieces?.[n] && <pre className="program">{problem.pieces[n]}</pre>}
          </Reveal>
        ))}
        <Reveal summary={bench.fullTrace}>
          <Solution machine={machine} problem={problem} onTake={kept.replace} />
        </Reveal>
      </div>
    </div>
  );
}
