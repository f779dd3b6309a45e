import { useMemo, useRef } from 'react';
import { assess, type Problem } from '../../logic/machine/check.ts';
import type { Machine } from '../../logic/machine/machine.ts';
import type { ProblemId } from '../../logic/machine/problem-ids.ts';
import { completionsFor } from '../../logic/machine/program/completion.ts';
import type { Run } from '../../logic/machine/run.ts';
import type { ProgramOfExercise } from '../../state/kept-programs.ts';
import { say } from '../../text/say.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Player } from '../../ui/controls/Player.tsx';
import { usePlayback } from '../../ui/controls/usePlayback.ts';
import { Stats } from '../../ui/figures/Stats.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { ProgramEditor } from './editor/ProgramEditor.tsx';
import { ProgramToolbar } from './editor/ProgramToolbar.tsx';
import { HintLadder } from './HintLadder.tsx';
import { MachineView } from './machine/MachineView.tsx';
import { TraceTable } from './machine/TraceTable.tsx';
import { Solution } from './Solution.tsx';
import { Verdict } from './Verdict.tsx';
import './workbench.css';

export interface WorkbenchProps<V> {
  readonly machine: Machine<V>;
  readonly problem: Problem<V, ProblemId>;
  readonly kept: ProgramOfExercise;
  /** The remark on a solution, such as how near it is to the optimum. */
  readonly verdict: (run: Run<V>) => string;
  /** Cycles of the best program known for this machine; null if the verdict gives them. */
  readonly bestKnown?: number | null;
  /** The name of the address parameter that holds the executed instruction. */
  readonly at?: string;
}

/**
 * An exercise: a program to write, what is still missing, and the machine that runs the program step by step.
 * The solution comes after the last hint.
 */
export function Workbench<V>(props: WorkbenchProps<V>) {
  const { machine, problem, kept, verdict, bestKnown = null, at = 'at' } = props;
  const side = useRef<HTMLDivElement>(null);
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
  const playback = usePlayback(at, run.steps.length, 650);
  const step = run.steps[playback.at - 1] ?? null;
  const none = { loads: 0, stores: 0, computes: 0, cycles: 0 };
  const total = run.steps.at(-1)?.counts ?? none;
  // Before the first step, the counts are those of the whole run, because the run decides whether the program
  // is right.
  const count = (name: keyof typeof none): string =>
    step ? `${step.counts[name]} / ${total[name]}` : String(total[name]);
  return (
    <div className="workbench">
      <div className="workbench-side" ref={side}>
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
        <Player playback={playback} unit="instruction" />
        <Stats
          items={[
            [bench.loads, count('loads')],
            [bench.computes, count('computes')],
            [bench.stores, count('stores')],
            [bench.cycles, count('cycles')],
          ]}
        />
        {/* Not an alert: a line is wrong until it has been typed to its end. */}
        <ul className="errors" aria-live="polite">
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
          <Verdict exercise={problem.id} cycles={total.cycles} bestKnown={bestKnown} remark={verdict(run)} />
        )}
        <ProgramToolbar kept={kept} editorIn={side} />
      </div>
      <div className="workbench-main">
        <MachineView machine={machine} state={step?.state ?? run.start} step={step} />
        <Reveal summary={bench.trace}>
          <TraceTable
            label={bench.trace}
            machine={machine}
            run={run}
            at={playback.at}
            onSeek={playback.seek}
          />
        </Reveal>
        <HintLadder key={problem.id} hints={words.hints}>
          <Solution machine={machine} problem={problem} onTake={kept.replace} />
        </HintLadder>
      </div>
    </div>
  );
}
