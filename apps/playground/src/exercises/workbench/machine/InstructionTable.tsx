import type { Machine } from '../../../logic/machine/machine.ts';
import { useText } from '../../../text/TextProvider.tsx';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';

/** The machine's instructions, which take one cycle each. */
export function InstructionTable<V>({ machine }: { readonly machine: Machine<V> }) {
  const { bench } = useText();
  return (
    <ScrollRegion label={bench.instructions}>
      <table>
        <thead>
          <tr>
            <th scope="col">{bench.instruction}</th>
            <th scope="col">{bench.operation}</th>
          </tr>
        </thead>
        <tbody>
          {machine.instructions.map(({ name, signature, meaning }) => (
            <tr key={name}>
              <td>
                <code>
                  {name} {signature.join(', ')}
                </code>
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
