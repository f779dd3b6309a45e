import { parseProgram } from '../../machine/parse.ts';
import { runProgram } from '../../machine/run.ts';
import { softmaxMachine } from '../../machine/softmax/softmax-machine.ts';
import { softmaxProblems } from '../../machine/softmax/softmax-problems.ts';
import { useText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';

/** Reads, writes and instructions of the two programs, counted by running them. */
export function PassCounts({ n }: { readonly n: number }) {
  const { bench } = useText();
  const sizes = [...new Set([n, 16, 64, 256])].sort((a, b) => a - b);
  return (
    <ScrollRegion label="Counts">
      <table>
        <thead>
          <tr>
            <th scope="col">n</th>
            {softmaxProblems.map(({ id, registers }) => (
              <th key={id} scope="col">
                {bench.problems[id].title}, {bench.registerCount(registers)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sizes.map(size => (
            <tr key={size}>
              <th scope="row">{size}</th>
              {softmaxProblems.map(({ id, solution, registers }) => {
                const machine = softmaxMachine(
                  registers,
                  Array.from({ length: size }, () => 0),
                );
                const counts = runProgram(parseProgram(solution, machine), machine).steps.at(-1)?.counts;
                return (
                  <td key={id}>
                    {counts?.loads} reads, {counts?.stores} writes, {counts?.computes} operations
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
