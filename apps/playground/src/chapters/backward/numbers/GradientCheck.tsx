import { finiteDifference, loss } from '../../../logic/gradients/finite-difference.ts';
import { useUrlNumber } from '../../../state/url-state.ts';
import { useNumbers } from '../../../text/numbers.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { Slider } from '../../../ui/controls/Slider.tsx';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';
import { Rich } from '../../../ui/prose/Rich.tsx';
import { TwoWaysToD } from './TwoWaysToD.tsx';
import { useLiveNumbers } from './useLiveNumbers.ts';

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
      <TwoWaysToD numbers={numbers} />
    </div>
  );
}
