import { useMemo } from 'react';
import { Quiz } from '../../exercises/quiz/Quiz.tsx';
import { MachineExercise } from '../../exercises/workbench/MachineExercise.tsx';
import { InstructionTable } from '../../exercises/workbench/machine/InstructionTable.tsx';
import { softmaxMachine } from '../../logic/machine/softmax/softmax-machine.ts';
import { overflowingSolution, softmaxProblems } from '../../logic/machine/softmax/softmax-problems.ts';
import { replaceKeptProgram, useProgram } from '../../state/kept-programs.ts';
import { useProgress } from '../../state/progress.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import { formulas } from '../formulas.ts';
import { PassCounts } from './PassCounts.tsx';
import { TwoPaths } from './TwoPaths.tsx';
import { Welford } from './Welford.tsx';

const ids = softmaxProblems.map(({ id }) => id);

/** Inputs whose maximum rises several times on the way. */
const example = [0.5, 1.9, -1.2, 3, 2.2, -0.4, 3.6, 1];

/** The softmax machine, in three passes and in two. */
export default function SoftmaxChapter() {
  const { softmax: text, bench } = useText();
  const [id, setId] = useUrlChoice('problem', 'safe-softmax', ids);
  const kept = useProgram(id);
  const [n, setN] = useUrlNumber('n', 4, { min: 1, max: 8 });
  const [shift, setShift] = useUrlNumber('shift', 0, { min: 0, max: 100 });
  const problem = softmaxProblems.find(p => p.id === id);
  const registers = problem?.registers ?? 3;
  const x = useMemo(() => example.slice(0, n).map(value => value + shift), [n, shift]);
  const machine = useMemo(() => softmaxMachine(registers, x), [registers, x]);
  const solved = useProgress()['online-softmax'] !== undefined;
  if (!problem) return null;
  return (
    <div className="stack">
      <div className="prose">
        <p>
          <Rich text={text.intro} />
        </p>
        <Formula block tex={formulas.softmax} />
        <Reveal summary={bench.instructionSet}>
          <InstructionTable machine={machine} />
          <p>
            <Rich text={text.loop} />
          </p>
        </Reveal>
      </div>
      <MachineExercise
        ids={ids}
        numberOf={next => ids.indexOf(next) + 4}
        onChoose={setId}
        controls={
          <>
            <Slider label={text.numbers} value={n} min={1} max={8} onChange={setN} />
            <Slider label={text.shift} value={shift} min={0} max={100} step={10} onChange={setShift} />
          </>
        }
        machine={machine}
        problem={problem}
        kept={kept}
        verdict={({ steps }) => {
          const { loads = 0, stores = 0 } = steps.at(-1)?.counts ?? {};
          return text.verdict(n, loads, stores);
        }}
      />
      <Section id="paths" title={text.paths}>
        <TwoPaths
          x={x}
          shift={shift}
          onShift={setShift}
          intro={
            <>
              {' '}
              <Paragraphs text={text.pathsWhy} />
              <Formula block tex={formulas.runningSum} />
            </>
          }
        >
          <p>
            <Rich text={text.overflowWhy} />
          </p>
          <div className="toolbar">
            <button
              type="button"
              className="button"
              onClick={() => {
                replaceKeptProgram('online-softmax', overflowingSolution);
                kept.open('online-softmax');
                setId('online-softmax');
                setShift(100);
                document.getElementById('exercise-title')?.scrollIntoView();
              }}
            >
              {solved ? text.showOverflow : text.showOverflowEarly}
            </button>
          </div>
        </TwoPaths>
      </Section>
      <Quiz id="safe-factor" />
      <Section id="passes" title={text.counts}>
        <PassCounts />
      </Section>
      <Quiz id="running-tricks" />
      <Quiz id="welford">
        <Formula block tex={formulas.sumsOfSquares} />
        <Formula block tex={formulas.welford} />
        <Welford x={x} />
      </Quiz>
      <div className="stack tight">
        <Reveal summary={text.nothingNew}>
          <Paragraphs text={text.nothingNewAnswer} />
        </Reveal>
      </div>
      <References ids={['milakov', 'welford']} />
    </div>
  );
}
