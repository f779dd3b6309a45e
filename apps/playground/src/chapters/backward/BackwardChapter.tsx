import { useUrlState } from '../../app/url-state.ts';
import { keyLoads, type Walk } from '../../schedule/backward-order.ts';
import { Formula } from '../../ui/Formula.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';
import { Segmented } from '../../ui/Segmented.tsx';
import { Stats } from '../../ui/Stats.tsx';
import '../attention/attention.css';
import './backward.css';
import { Derivation } from './Derivation.tsx';
import { WalkFigure } from './WalkFigure.tsx';

const blocks = 8;

/** Chapter 5: gradients without the big matrices. */
export default function BackwardChapter() {
  const [walk, setWalk] = useUrlState('walk', 'rows');
  const [known, setKnown] = useUrlState('d', 'known');
  const loads = keyLoads(blocks, known === 'known');
  return (
    <div className="stack">
      <div className="prose">
        <p>
          Forward threw P away. Backward needs it again, and two more matrices as large: dP and dS. None of
          them is stored either. One number per row, <Formula tex="\mathrm{lse} = m + \ln d" />, brings every
          weight back on demand: <Formula tex="P_{ij} = e^{S_{ij} - \mathrm{lse}_i}" />.
        </p>
      </div>
      <section className="panel" aria-labelledby="derivation-title">
        <h2 id="derivation-title">The derivation</h2>
        <Derivation />
      </section>
      <section className="panel" aria-labelledby="walk-title">
        <h2 id="walk-title">By rows or by columns</h2>
        <WalkFigure walk={walk === 'columns' ? 'columns' : ('rows' satisfies Walk)} onWalk={setWalk} />
      </section>
      <section className="panel" aria-labelledby="d-title">
        <h2 id="d-title">What knowing D first is worth</h2>
        <p>
          dS needs D of its row. Taken from P and dP, D is known only when the whole row has been seen, and K
          and V must come a second time. Taken from dO and O beforehand, once is enough: twice the arithmetic
          per byte.
        </p>
        <div className="toolbar">
          <Segmented
            label="D"
            value={known === 'known' ? 'known' : 'late'}
            options={[
              { value: 'known', label: 'D = rowsum(dO ∘ O), beforehand' },
              { value: 'late', label: 'D = rowsum(P ∘ dP), on the way' },
            ]}
            onChange={setKnown}
          />
        </div>
        <Stats
          items={[
            [`Loads of K blocks, ${blocks} × ${blocks}`, loads.k],
            ['Loads of V blocks', loads.v],
          ]}
        />
      </section>
      <section className="panel" aria-labelledby="kernels-title">
        <h2 id="kernels-title">What the library runs</h2>
        <p>
          Row-wise and column-wise both leave something unfinished, which workgroups would have to add up in
          each other's memory. The library walks twice instead, each time the way that finishes what it
          computes: no atomics, and the same bits in every run.
        </p>
        <ScrollRegion label="Kernels of backward">
          <table>
            <thead>
              <tr>
                <th scope="col">Kernel</th>
                <th scope="col">A workgroup has</th>
                <th scope="col">It walks over</th>
                <th scope="col">and finishes</th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <td>rows</td>
                <td>a few queries</td>
                <td>their channels</td>
                <td>D (minus the gradient of lse) and lse, side by side</td>
              </tr>
              <tr>
                <td>dK, dV</td>
                <td>a tile of keys</td>
                <td>the query tiles that see it</td>
                <td>dK = dSᵀ·Q and dV = Pᵀ·dO</td>
              </tr>
              <tr>
                <td>dQ</td>
                <td>a tile of queries</td>
                <td>the key tiles that it sees</td>
                <td>dQ = dS·K</td>
              </tr>
            </tbody>
          </table>
        </ScrollRegion>
        <p>
          S and dP are computed in both: seven matrix products in all, where five would do. Nothing is stored
          that grows with the square of the sequence.
        </p>
      </section>
      <Reveal summary="Where the matrices go that never exist">
        <p>
          P, dP and dS each appear only inside a sum: P times V, dS times K. What is made and at once added to
          a sum need not be kept; a tile of it lives in registers for a moment.
        </p>
      </Reveal>
    </div>
  );
}
