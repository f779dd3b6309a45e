import { useMemo } from 'react';
import { useUrlNumber, useUrlState } from '../../app/url-state.ts';
import { softmaxMachine } from '../../machine/softmax/softmax-machine.ts';
import { overflowingSolution, softmaxProblems } from '../../machine/softmax/softmax-problems.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Formula } from '../../ui/Formula.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Segmented } from '../../ui/Segmented.tsx';
import { Slider } from '../../ui/Slider.tsx';
import { InstructionTable } from '../machine/InstructionTable.tsx';
import { Workbench } from '../machine/Workbench.tsx';
import { PassCounts } from './PassCounts.tsx';

const [firstProblem] = softmaxProblems;

/** Inputs whose values differ, with a maximum in the middle; `shift` moves them all, which softmax does not notice. */
function inputs(n: number, shift: number): number[] {
  return Array.from({ length: n }, (_, i) => shift + Math.round(30 * Math.sin(1.9 * i + 0.6)) / 10);
}

/** Chapter 2: the softmax machine, in three passes and in two. */
export default function SoftmaxChapter() {
  const { bench } = useText();
  const [id, setId] = useUrlState('problem', firstProblem?.id ?? '');
  const [text, setText] = useUrlState('program', '');
  const [n, setN] = useUrlNumber('n', 4, { min: 1, max: 8 });
  const [shift, setShift] = useUrlNumber('shift', 0, { min: 0, max: 100 });
  const problem = softmaxProblems.find(p => p.id === id) ?? firstProblem;
  const registers = problem?.registers ?? 3;
  const machine = useMemo(() => softmaxMachine(registers, inputs(n, shift)), [registers, n, shift]);
  if (!problem) return null;
  return (
    <div className="stack">
      <div className="prose">
        <p>
          Softmax turns scores into weights that sum to one. <Formula tex="e^{x}" /> overflows from{' '}
          <Formula tex="x \approx 88.7" /> on in 32-bit floats, so the maximum is subtracted first. But the
          maximum is known only when everything has been read…
        </p>
        <Formula
          block
          tex="\operatorname{softmax}(x)_i = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}}, \qquad m = \max_j x_j"
        />
        <Reveal summary="The instruction set">
          <InstructionTable machine={machine} />
          <p>
            <code>FOR i = 1 TO n-1</code> … <code>END</code> repeats the lines between; it costs nothing and
            shows how a program grows with n.
          </p>
        </Reveal>
      </div>
      <section className="panel" aria-labelledby="exercise-title">
        <div className="exercise-head">
          <Segmented
            label="Exercise"
            value={problem.id}
            options={softmaxProblems.map((p, k) => ({ value: p.id, label: `Problem ${k + 4}` }))}
            onChange={next => {
              setText('');
              setId(next);
            }}
          />
          <Slider label="Numbers (n)" value={n} min={1} max={8} onChange={setN} />
          <Slider
            label="Added to every number"
            value={shift}
            min={0}
            max={100}
            step={10}
            onChange={setShift}
          />
        </div>
        <h2 id="exercise-title">{bench.problems[problem.id].title}</h2>
        <p>{bench.problems[problem.id].task}</p>
        <Workbench
          key={`${problem.id} ${n} ${shift}`}
          machine={machine}
          problem={problem}
          program={text}
          onChange={setText}
          verdict={() => `For n = ${n}: ${problem.reads(n)} reads and ${problem.writes(n)} writes of DRAM.`}
        />
      </section>
      <section className="panel" aria-labelledby="passes-title">
        <h2 id="passes-title">What one register saves</h2>
        <PassCounts n={n} />
      </section>
      <section className="panel" aria-labelledby="overflow-title">
        <h2 id="overflow-title">The same mathematics, other numbers</h2>
        <p>
          The factor <Formula tex="e^{m-m'}" /> is at most 1. Written as <Formula tex="e^{m} / e^{m'}" /> it
          is the same on paper, but <Formula tex="e^{100}" /> is more than a 32-bit float can hold: ∞ / ∞ is
          not a number. Put the quotient in, add 100 to every number and watch the registers.
        </p>
        <div className="toolbar">
          <button
            type="button"
            className="button primary"
            onClick={() => {
              setId('online-softmax');
              setShift(100);
              setText(overflowingSolution);
              document.getElementById('exercise-title')?.scrollIntoView();
            }}
          >
            Show it overflow
          </button>
          <button type="button" className="button" onClick={() => setShift(0)}>
            Back to small numbers
          </button>
        </div>
      </section>
      <Reveal summary="Where else a running value is corrected">
        <p>
          Welford's variance keeps the mean so far and the sum of squared distances from it. When a number
          comes, the mean moves, and the sum is corrected instead of computed again:
        </p>
        <Formula
          block
          tex="\delta = x - \bar x, \qquad \bar x \leftarrow \bar x + \tfrac{\delta}{n}, \qquad M_2 \leftarrow M_2 + \delta\,(x - \bar x_{\text{new}}), \qquad s^2 = \tfrac{M_2}{n-1}"
        />
      </Reveal>
    </div>
  );
}
