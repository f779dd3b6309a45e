import { type KeyboardEvent, useMemo, useState } from 'react';
import { attentionNumbers } from '../../logic/gradients/attention-numbers.ts';
import { finiteDifference, type InputName, loss, moved } from '../../logic/gradients/finite-difference.ts';
import { readElement, start, words } from '../../logic/gradients/four-words.ts';
import { type Element, type MatrixName, makingOf, matricesOf } from '../../logic/gradients/terms.ts';
import { useUrlNumber, useUrlState } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { keyStep } from '../../ui/controls/grid-keys.ts';
import { Slider } from '../../ui/controls/Slider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import './numbers.css';

/** The matrices in the order of the page: forward, backward, gradients. */
const layout: readonly (readonly MatrixName[])[] = [
  ['Q', 'K', 'V', 'dO'],
  ['S', 'P', 'O'],
  ['dP', 'D', 'dS'],
  ['dQ', 'dK', 'dV'],
];
const movable: Partial<Record<MatrixName, InputName>> = { Q: 'q', K: 'k', V: 'v', dQ: 'q', dK: 'k', dV: 'v' };

const idOf = ({ matrix, i, j }: Element): string => `element-${matrix}${i}${j}`;
const same = (a: Element, b: Element): boolean => idOf(a) === idOf(b);

/**
 * The element that the visitor has chosen, the numbers that the visitor has changed, and how to change both.
 */
function useLiveNumbers() {
  const [written, write] = useUrlState('element', 'dS12');
  const [tenths, setTenths] = useUrlNumber('moved', 0, { min: -30, max: 30 });
  const chosen = readElement(written);
  const input = movable[chosen.matrix] ?? 'q';
  const [i, c] = movable[chosen.matrix] ? [chosen.i, chosen.j] : [chosen.i, 0];
  const tokens = useMemo(() => moved(start, input, i, c, tenths / 10), [input, i, c, tenths]);
  const numbers = useMemo(() => attentionNumbers(tokens), [tokens]);
  const choose = (element: Element): void => write(`${element.matrix}${element.i}${element.j}`);
  return { chosen, choose, input, i, c, tokens, numbers, tenths, setTenths };
}

/**
 * All matrices of attention and its backward pass for four words, with numbers that the visitor can change.
 */
export function LiveNumbers() {
  const text = useChapterText('backward');
  const { fixed } = useNumbers();
  const { chosen, choose, tokens, numbers } = useLiveNumbers();
  // Pointing chooses nothing: on the way to the sliders, a mouse passes over other elements.
  const [pointed, point] = useState<Element | null>(null);
  const shown = pointed ?? chosen;
  const matrices = useMemo(() => matricesOf(tokens, numbers), [tokens, numbers]);
  const number = (value: number): string => fixed(value, 2);
  const making = makingOf(shown, matrices, number);
  const used = new Set(making?.used.map(idOf));
  const pick = (element: Element): void => {
    point(null);
    choose(element);
  };
  const press = (event: KeyboardEvent, at: Element): void => {
    const rows = matrices[at.matrix];
    const to = keyStep(event, [at.i, at.j], [rows.length, rows[0]?.length ?? 1]);
    if (!to) return;
    event.preventDefault();
    document.getElementById(idOf({ matrix: at.matrix, i: to[0], j: to[1] }))?.focus();
  };
  return (
    <div className="stack">
      <p className="making" role="status">
        {making ? (
          <>
            <span className="mono">{making.rule}</span>
            <span className="mono">= {making.terms}</span>
          </>
        ) : (
          <Rich text={text.given} />
        )}
      </p>
      <ScrollRegion label={text.numbers}>
        {layout.map(row => (
          <div className="matrices" key={row.join()}>
            {row.map(name => (
              <table
                key={name}
                className="matrix"
                data-symbol={name}
                data-kind={name.startsWith('d') || name === 'D' ? 'back' : 'forth'}
              >
                <caption>{name}</caption>
                <tbody>
                  {matrices[name].map((values, r) => (
                    // A row stands for a word.
                    <tr key={words[r]}>
                      {values.map((value, s) => {
                        const element = { matrix: name, i: r, j: s };
                        const current = same(element, chosen);
                        const first = r === 0 && s === 0 && chosen.matrix !== name;
                        return (
                          <td key={idOf(element)}>
                            <button
                              type="button"
                              id={idOf(element)}
                              tabIndex={current || first ? 0 : -1}
                              aria-pressed={current}
                              data-shown={same(element, shown)}
                              aria-label={`${name}[${r},${s}] = ${number(value)}`}
                              data-used={used.has(idOf(element))}
                              onPointerEnter={() => point(element)}
                              onPointerLeave={() => point(null)}
                              onFocus={() => pick(element)}
                              // Safari does not focus a button that is clicked.
                              onClick={() => pick(element)}
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
            ))}
          </div>
        ))}
      </ScrollRegion>
    </div>
  );
}

/** The gradient beside a finite difference that the visitor chooses, and D computed in both ways. */
export function GradientCheck() {
  const text = useChapterText('backward');
  const { fixed, short } = useNumbers();
  const { input, i, c, tokens, numbers, tenths, setTenths } = useLiveNumbers();
  const [power, setPower] = useUrlNumber('h', 2, { min: 0, max: 6 });
  const h = 10 ** -power;
  const gradient = { q: numbers.dQ, k: numbers.dK, v: numbers.dV }[input][i]?.[c] ?? 0;
  const difference = finiteDifference(tokens, input, i, c, h);
  return (
    <div className="beside">
      <div className="stack">
        <p>
          <Rich text={text.checkWhy} />
        </p>
        <Slider
          label={text.move(`${input.toUpperCase()}[${i},${c}]`)}
          value={tenths}
          min={-30}
          max={30}
          format={value => `${value >= 0 ? '+' : ''}${fixed(value / 10, 1)}`}
          onChange={setTenths}
        />
        <Slider
          label={text.stepSize}
          value={power}
          min={0}
          max={6}
          format={p => short(10 ** -p, 1)}
          onChange={setPower}
        />
        <ScrollRegion label={text.check} className="whole">
          <table className="numbers">
            <tbody>
              <tr>
                <th scope="row">L = Σ dO ∘ O</th>
                <td>{fixed(loss(tokens), 6)}</td>
              </tr>
              <tr>
                <th scope="row">(L(x + h) − L(x − h)) / 2h</th>
                <td>{fixed(difference, 6)}</td>
              </tr>
              <tr>
                <th scope="row">{`d${input.toUpperCase()}[${i},${c}]`}</th>
                <td>{fixed(gradient, 6)}</td>
              </tr>
            </tbody>
          </table>
        </ScrollRegion>
        <p className={Math.abs(difference - gradient) < 1e-3 ? 'solved' : 'broken'} role="status">
          {text.apart(short(Math.abs(difference - gradient), 2))}
        </p>
      </div>
      <div className="stack">
        <h3>{text.twoD}</h3>
        <ScrollRegion label={text.twoD}>
          <table className="numbers">
            <thead>
              <tr>
                <td />
                <th scope="col">Σ dO ∘ O</th>
                <th scope="col">Σ P ∘ dP</th>
              </tr>
            </thead>
            <tbody>
              {words.map((word, r) => (
                <tr key={word}>
                  <th scope="row">{word}</th>
                  <td>{fixed(numbers.D[r] ?? 0, 6)}</td>
                  <td>
                    {fixed(
                      numbers.P[r]?.reduce((sum, p, j) => sum + p * (numbers.dP[r]?.[j] ?? 0), 0) ?? 0,
                      6,
                    )}
                  </td>
                </tr>
              ))}
              <tr>
                <th scope="row">{text.readsFor(words.length)}</th>
                <td>{2 * words.length * 2}</td>
                <td>{words.length * 2 * words.length * 2}</td>
              </tr>
              <tr>
                <th scope="row">{text.readsFormula}</th>
                <td>2·n·d</td>
                <td>2·n²·d / T</td>
              </tr>
            </tbody>
          </table>
        </ScrollRegion>
        <p className="note">{text.readsNote}</p>
      </div>
    </div>
  );
}
