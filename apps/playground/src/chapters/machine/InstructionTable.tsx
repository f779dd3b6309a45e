import type { Machine } from '../../machine/machine.ts';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';

/** The machine's instructions, each one cycle. */
export function InstructionTable<V>({ machine }: { readonly machine: Machine<V> }) {
  return (
    <ScrollRegion label="Instructions">
      <table>
        <thead>
          <tr>
            <th scope="col">Instruction</th>
            <th scope="col">Operation</th>
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
