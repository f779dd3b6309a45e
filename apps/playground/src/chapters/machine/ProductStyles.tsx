import { matrixMachine } from '../../logic/machine/matrix/matrix-machine.ts';
import { matrixProblems } from '../../logic/machine/matrix/matrix-problems.ts';
import { parseProgram } from '../../logic/machine/program/parse.ts';
import { runProgram } from '../../logic/machine/run.ts';
import { useText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

const styles = ['inner-product', 'outer-product'] as const;

/** The two ways to multiply, with counts from running both programs. */
export function ProductStyles() {
  const { machine: text, bench } = useText();
  const columns = styles.flatMap(id => {
    const problem = matrixProblems.find(p => p.id === id);
    if (!problem) return [];
    const machine = matrixMachine(problem.registers);
    const run = runProgram(parseProgram(problem.solution, machine), machine);
    return [{ id, registers: problem.registers, counts: run.steps.at(-1)?.counts }];
  });
  const rows: readonly (readonly [string, (column: (typeof columns)[number]) => number | undefined])[] = [
    [bench.registers, ({ registers }) => registers],
    [text.cyclesInAll, ({ counts }) => counts?.cycles],
    [bench.loads, ({ counts }) => counts?.loads],
  ];
  return (
    <ScrollRegion label={text.styles}>
      <table className="numbers">
        <thead>
          <tr>
            <td />
            <th scope="col">{text.innerProduct}</th>
            <th scope="col">{text.outerProduct}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, read]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {columns.map(column => (
                <td key={column.id}>{read(column)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
