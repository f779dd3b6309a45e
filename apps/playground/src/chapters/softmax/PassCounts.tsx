import { useCallback, useMemo } from 'react';
import { parseProgram } from '../../logic/machine/program/parse.ts';
import { type Counts, runProgram } from '../../logic/machine/run.ts';
import { softmaxMachine } from '../../logic/machine/softmax/softmax-machine.ts';
import { type SoftmaxProblem, softmaxProblems } from '../../logic/machine/softmax/softmax-problems.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { Chart, type Plot } from '../../ui/figures/Chart.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

const none: Counts = { loads: 0, stores: 0, computes: 0, cycles: 0 };
const most = 64;

/** The counts of an exercise's solution for n numbers, found by running it. */
function countsOf({ solution, registers }: SoftmaxProblem, n: number): Counts {
  const zeros = Array.from({ length: n }, () => 0);
  const machine = softmaxMachine(registers, zeros);
  return runProgram(parseProgram(solution, machine), machine).steps.at(-1)?.counts ?? none;
}

const sizes = [1, 8, 16, 24, 32, 40, 48, 56, most];
const colors: Readonly<Record<SoftmaxProblem['id'], string>> = {
  'safe-softmax': 'var(--write)',
  'online-softmax': 'var(--read)',
};

interface Curve {
  readonly id: SoftmaxProblem['id'];
  readonly points: readonly (readonly [n: number, reads: number])[];
}

let known: readonly Curve[] | null = null;

/**
 * The reads of both solutions by the number of inputs. Running the solutions takes long on a phone, so they
 * run when the chart is first drawn.
 */
function curves(): readonly Curve[] {
  known ??= softmaxProblems.map(problem => ({
    id: problem.id,
    points: sizes.map(n => [n, countsOf(problem, n).loads] as const),
  }));
  return known;
}

/** Reads, writes and operations of the two programs against the number of inputs. */
export function PassCounts() {
  const { softmax: text, bench } = useText();
  const [n, setN] = useUrlNumber('count', 16, { min: 1, max: most });
  const columns = useMemo(
    () => softmaxProblems.map(problem => ({ problem, counts: countsOf(problem, n) })),
    [n],
  );
  const rows: readonly (readonly [string, (column: (typeof columns)[number]) => string | number])[] = [
    [bench.registers, ({ problem }) => problem.registers],
    [text.passes, ({ problem }) => problem.reads(1)],
    [text.reads, ({ counts }) => counts.loads],
    [text.writes, ({ counts }) => counts.stores],
    [text.operations, ({ counts }) => counts.computes],
  ];
  const options = useCallback(
    (plot: Plot) => ({
      height: 260,
      marginRight: 120,
      x: { label: 'n', labelAnchor: 'center' as const, domain: [0, most] },
      y: { label: text.reads, grid: true, ticks: 4 },
      marks: [
        ...curves().map(({ id, points }) => plot.line(points, { stroke: colors[id], strokeWidth: 2.5 })),
        plot.text(
          curves().flatMap(({ id, points }) => points.slice(-1).map(point => ({ id, point }))),
          {
            x: ({ point }) => point[0],
            y: ({ point }) => point[1],
            text: ({ id }) => bench.problems[id as SoftmaxProblem['id']].title,
            fill: ({ id }) => colors[id as SoftmaxProblem['id']],
            textAnchor: 'start',
            dx: 8,
            fontWeight: 600,
          },
        ),
        plot.ruleX([n], { stroke: 'var(--line-strong)', strokeDasharray: '4 3' }),
        plot.dot(
          columns.map(({ problem, counts }) => ({ id: problem.id, loads: counts.loads })),
          { x: n, y: 'loads', r: 5, fill: ({ id }) => colors[id as SoftmaxProblem['id']] },
        ),
      ],
    }),
    [n, columns, text, bench],
  );
  return (
    <div className="beside">
      <Chart label={text.countsChart(columns.map(({ counts }) => counts.loads))} options={options} />
      <div className="stack">
        <Slider label={text.numbers} value={n} min={1} max={most} onChange={setN} />
        <ScrollRegion label={text.counts}>
          <table className="numbers">
            <thead>
              <tr>
                <td />
                {columns.map(({ problem }) => (
                  <th key={problem.id} scope="col">
                    {bench.problems[problem.id].title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([label, read]) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  {columns.map(column => (
                    <td key={column.problem.id}>{read(column)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
        <p className="note">{text.countsWhy}</p>
      </div>
    </div>
  );
}
