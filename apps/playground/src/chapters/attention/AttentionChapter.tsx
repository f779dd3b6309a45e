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
              <Formula
                block
                tex="o_i = \frac{\sum_j e^{x_j - m} v_j}{\sum_j e^{x_j - m}}, \qquad x_j = q_i \cdot k_j"
              />
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
              <Formula
                block
                tex="\begin{aligned} m_{k+1} &= \max(m_k,\, x_k) \\ \mathrm{num}_{k+1} &= \mathrm{num}_k\, e^{m_k - m_{k+1}} + e^{x_k - m_{k+1}}\, v_k \\ d_{k+1} &= d_k\, e^{m_k - m_{k+1}} + e^{x_k - m_{k+1}} \\ o &= \mathrm{num}_n / d_n \end{aligned}"
              />
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
        <Formula
          block
          tex="m' = \max(m_1, m_2), \quad d' = d_1 e^{m_1 - m'} + d_2 e^{m_2 - m'}, \quad \mathrm{num}' = \mathrm{num}_1 e^{m_1 - m'} + \mathrm{num}_2 e^{m_2 - m'}"
        />
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
