import { matrixRegisterCounts, type Wiring } from '../../logic/machine/matrix/matrix-machine.ts';
import { fewestCycles } from '../../logic/machine/matrix/matrix-problems.ts';
import { useText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

const wirings: readonly Wiring[] = ['fixed', 'any'];

/** The fewest cycles for the whole product, by number of registers and wiring of the multiplier. */
export function FewestCycles() {
  const { machine, bench } = useText();
  return (
    <ScrollRegion label={machine.fewestCaption}>
      <table className="numbers">
        <caption>{machine.fewestCaption}</caption>
        <thead>
          <tr>
            <th scope="col">{machine.wiring}</th>
            {matrixRegisterCounts.map(count => (
              <th key={count} scope="col">
                {bench.registerCount(count)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {wirings.map(wiring => (
            <tr key={wiring}>
              <th scope="row">{machine.wirings[wiring]}</th>
              {matrixRegisterCounts.map(count => (
                <td key={count}>{fewestCycles[wiring][count]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
