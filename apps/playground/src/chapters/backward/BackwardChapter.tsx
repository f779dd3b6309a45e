import { Quiz } from '../../quiz/Quiz.tsx';
import { useText } from '../../text/TextProvider.tsx';
import { Formula } from '../../ui/Formula.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/Rich.tsx';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';
import { AttentionExercises } from '../../workbench/AttentionExercises.tsx';
import './backward.css';
import { Derivation } from './Derivation.tsx';
import { KnownD } from './KnownD.tsx';
import { TwoKernels } from './TwoKernels.tsx';
import { WalkFigure } from './WalkFigure.tsx';

/** Chapter 5: gradients without the big matrices. */
export default function BackwardChapter() {
  const { backward: text } = useText();
  return (
    <div className="stack">
      <div className="prose">
        <Paragraphs text={text.intro} />
      </div>
      <Quiz id="ingredient" />
      <section className="panel" aria-labelledby="derivation-title">
        <h2 id="derivation-title">{text.derivation}</h2>
        <Derivation />
      </section>
      <div className="stack tight">
        <Reveal summary={text.jacobian}>
          <Paragraphs text={text.jacobianAnswer} />
          <Formula
            block
            tex="dA_{kl} = \sum_{ij} \frac{\partial L}{\partial C_{ij}}\, \frac{\partial C_{ij}}{\partial A_{kl}}"
          />
        </Reveal>
      </div>
      <Quiz id="why-gradients" />
      <Quiz id="projection-cost" />
      <Quiz id="walk-score" />
      <section className="panel" aria-labelledby="walk-title">
        <h2 id="walk-title">{text.byRowsOrColumns}</h2>
        <p>
          <Rich text={text.walkWhy} />
        </p>
        <WalkFigure />
      </section>
      <Quiz id="known-d" />
      <section className="panel" aria-labelledby="d-title">
        <h2 id="d-title">{text.worth}</h2>
        <p>
          <Rich text={text.worthWhy} />
        </p>
        <KnownD />
      </section>
      <AttentionExercises ids={['backward-row', 'backward-column']} />
      <section className="panel" aria-labelledby="kernels-title">
        <h2 id="kernels-title">{text.kernelsTitle}</h2>
        <p>
          <Rich text={text.kernelsWhy} />
        </p>
        <TwoKernels />
        <ScrollRegion label={text.kernelTable}>
          <table>
            <thead>
              <tr>
                {text.kernelColumns.map(column => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {text.kernelRows.map(row => (
                <tr key={row.join()}>
                  {row.map(entry => (
                    <td key={entry}>{entry}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
        <p>{text.sevenProducts}</p>
      </section>
      <Reveal summary={text.further}>
        <Paragraphs text={text.furtherAnswer.slice(0, 1)} />
        <Formula block tex="dX = dS\,(K W_Q^\top) + dS^\top (Q W_K^\top) + P^\top (dO\, W_V^\top)" />
        <Paragraphs text={text.furtherAnswer.slice(1)} />
      </Reveal>
    </div>
  );
}
