import { useUrlNumber } from '../../app/url-state.ts';
import { Formula } from '../../ui/Formula.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { MemoryMeter } from './MemoryMeter.tsx';
import { MergeByHand } from './MergeByHand.tsx';
import { StreamFigure } from './StreamFigure.tsx';

/** Chapter 3: the running state, key by key and tile by tile. */
export default function AttentionChapter() {
  const [tile, setTile] = useUrlNumber('tile', 1, { min: 1, max: 12 });
  return (
    <div className="stack">
      <div className="prose">
        <p>
          Attention needs the softmax weights only to average value vectors. So the weights need not be kept:
          each is made, multiplied into a running numerator, and forgotten.
        </p>
        <Formula
          block
          tex="o_i = \frac{\sum_j e^{x_j - m} v_j}{\sum_j e^{x_j - m}}, \qquad x_j = q_i \cdot k_j"
        />
        <p>
          Three things are kept for a query: the maximum <Formula tex="m" /> so far, the denominator{' '}
          <Formula tex="d" />, and the numerator, a vector. When the maximum rises by a new key, both sums are
          multiplied by <Formula tex="e^{m-m'}" />. The division comes last: one pass.
        </p>
      </div>
      <section className="panel" aria-labelledby="stream-title">
        <h2 id="stream-title">One query, all its keys</h2>
        <StreamFigure tile={tile} onTile={setTile} />
      </section>
      <section className="panel" aria-labelledby="merge-title">
        <h2 id="merge-title">Every element can be a tile</h2>
        <p>
          Two states merge by the same rule, whether each stands for one key or for a thousand. The merge is
          associative, so tiles can be computed anywhere, in any order, and put together later.
        </p>
        <Formula
          block
          tex="m' = \max(m_1, m_2), \quad d' = d_1 e^{m_1 - m'} + d_2 e^{m_2 - m'}, \quad \mathbf{num}' = \mathbf{num}_1 e^{m_1 - m'} + \mathbf{num}_2 e^{m_2 - m'}"
        />
        <MergeByHand />
      </section>
      <section className="panel" aria-labelledby="memory-title">
        <h2 id="memory-title">P never exists</h2>
        <MemoryMeter />
      </section>
      <Reveal summary="Why softmax alone takes two passes, and attention one">
        <p>
          Softmax must put out every weight, and each needs the final maximum and sum: so x is read again.
          Attention puts out one weighted average, which the running numerator already holds.
        </p>
      </Reveal>
    </div>
  );
}
