import { Quiz } from '../../exercises/quiz/Quiz.tsx';
import { AttentionExercises } from '../../exercises/workbench/AttentionExercises.tsx';
import { useUrlNumber } from '../../state/url-state.ts';
import { useText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import { formulas } from '../formulas.ts';
import { example } from './example.ts';
import { MemoryMeter } from './MemoryMeter.tsx';
import { MergeByHand } from './MergeByHand.tsx';
import { StreamFigure } from './StreamFigure.tsx';

/** The running state, key by key and tile by tile. */
export default function AttentionChapter() {
  const { attention: text } = useText();
  const [tile, setTile] = useUrlNumber('tile', 1, { min: 1, max: example.x.length });
  return (
    <div className="stack">
      <Section id="stream" title={text.stream}>
        <StreamFigure
          tile={tile}
          onTile={setTile}
          before={
            <>
              <p>
                <Rich text={text.intro} />
              </p>
              <Formula block tex={formulas.weightedMean} />
              <p>
                <Rich text={text.threeThings} />
              </p>
              <p>
                <Rich text={text.streamWhy} />
              </p>
            </>
          }
          after={
            <Quiz id="numerator-rule">
              <Formula block tex={formulas.onlineSoftmax} />
            </Quiz>
          }
        />
      </Section>
      <AttentionExercises ids={['stream', 'merge']} />
      <Quiz id="one-pass" />
      <Section id="merge" title={text.merge}>
        <p>
          <Rich text={text.mergeWhy} />
        </p>
        <Formula block tex={formulas.merge} />
        <MergeByHand />
      </Section>
      <Section id="memory" title={text.memory}>
        <MemoryMeter />
      </Section>
      <div className="stack tight">
        <Reveal summary={text.elimination}>
          <Paragraphs text={text.eliminationAnswer} />
        </Reveal>
        <Reveal summary={text.onGpu}>
          <p>
            <Rich text={text.onGpuAnswer} />
          </p>
          <ScrollRegion label={text.onGpu}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{text.toy}</th>
                  <th scope="col">GPU</th>
                </tr>
              </thead>
              <tbody>
                {text.correspondence.map(([toy, gpu]) => (
                  <tr key={toy}>
                    <td>{toy}</td>
                    <td>{gpu}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
        </Reveal>
      </div>
      <References ids={['rabe', 'dao', 'milakov']} />
    </div>
  );
}
