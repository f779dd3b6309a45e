import type { KeyboardEvent } from 'react';
import { words } from '../../../logic/gradients/four-words.ts';
import type { Element, MatrixName } from '../../../logic/gradients/terms.ts';
import { keyStep } from '../../../ui/controls/grid-keys.ts';

const idOf = ({ matrix, i, j }: Element): string => `element-${matrix}${i}${j}`;
const same = (a: Element, b: Element): boolean => idOf(a) === idOf(b);

/**
 * A matrix of numbers. Pointing and Tab only show an element, so that a visitor who moves on to the controls
 * does not lose the chosen element. A click, Enter and the arrow keys choose one.
 */
export function NumberMatrix(props: {
  readonly name: MatrixName;
  readonly values: readonly (readonly number[])[];
  readonly chosen: Element;
  /** The element whose terms are shown: the one that is pointed at, or the chosen one. */
  readonly shown: Element;
  /** The elements that the shown one is made of. */
  readonly used: readonly Element[];
  readonly number: (value: number) => string;
  readonly onPoint: (element: Element | null) => void;
  readonly onChoose: (element: Element) => void;
}) {
  const { name, values, chosen, shown, used, number, onPoint, onChoose } = props;
  const outlined = new Set(used.map(idOf));
  const press = (event: KeyboardEvent, at: Element): void => {
    const to = keyStep(event, [at.i, at.j], [values.length, values[0]?.length ?? 1]);
    if (!to) return;
    event.preventDefault();
    const element = { matrix: name, i: to[0], j: to[1] };
    document.getElementById(idOf(element))?.focus();
    onChoose(element);
  };
  return (
    <table
      className="matrix"
      data-symbol={name}
      data-kind={name.startsWith('d') || name === 'D' ? 'back' : 'forth'}
    >
      <caption>{name}</caption>
      <tbody>
        {values.map((row, i) => (
          // A row stands for a word.
          <tr key={words[i]}>
            {row.map((value, j) => {
              const element = { matrix: name, i, j };
              const current = same(element, chosen);
              const first = i === 0 && j === 0 && chosen.matrix !== name;
              return (
                <td key={idOf(element)}>
                  <button
                    type="button"
                    id={idOf(element)}
                    tabIndex={current || first ? 0 : -1}
                    aria-pressed={current}
                    data-shown={same(element, shown)}
                    aria-label={`${name}[${i},${j}] = ${number(value)}`}
                    data-used={outlined.has(idOf(element))}
                    onPointerEnter={() => onPoint(element)}
                    onPointerLeave={() => onPoint(null)}
                    onFocus={() => onPoint(element)}
                    onBlur={() => onPoint(null)}
                    onClick={() => onChoose(element)}
                    onKeyDown={event => press(event, element)}
                  >
                    {number(value)}
                  </button>
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
