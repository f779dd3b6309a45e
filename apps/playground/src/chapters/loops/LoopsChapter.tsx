import { useMemo } from 'react';
import { useUrlNumber, useUrlState } from '../../app/url-state.ts';
import { type LoopOrder, totalTraffic, visits } from '../../schedule/loop-order.ts';
import { Player } from '../../ui/Player.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Segmented } from '../../ui/Segmented.tsx';
import { Slider } from '../../ui/Slider.tsx';
import { usePlayback } from '../../ui/usePlayback.ts';
import './loops.css';
import { Roofline } from './Roofline.tsx';
import { TrafficTable } from './TrafficTable.tsx';
import { VisitGrid } from './VisitGrid.tsx';

const n = 8;
const orders: readonly { readonly value: LoopOrder; readonly label: string }[] = [
  { value: 'inner-product', label: 'Queries outside (FlashAttention-2)' },
  { value: 'outer-product', label: 'Keys outside (FlashAttention-1)' },
];

/** Chapter 4: what travels between slow and fast memory, by which loop is outside. */
export default function LoopsChapter() {
  const [order, setOrder] = useUrlState('order', 'inner-product');
  const [slots, setSlots] = useUrlNumber('slots', 0, { min: 0, max: n });
  const chosen: LoopOrder = order === 'outer-product' ? 'outer-product' : 'inner-product';
  const all = useMemo(() => visits(chosen, n, slots), [chosen, slots]);
  const playback = usePlayback('at', all.length, 130);
  const visit = all[playback.at - 1];
  return (
    <div className="stack">
      <div className="prose">
        <p>
          Every tile of queries must meet every tile of keys. Fast memory holds one tile of each, so something
          is loaded again and again: with queries outside it is K and V, with keys outside it is Q and the
          unfinished outputs, which must also be written back.
        </p>
      </div>
      <section className="panel" aria-labelledby="grid-title">
        <h2 id="grid-title">
          {n} × {n} tiles
        </h2>
        <div className="toolbar">
          <Segmented label="Loop order" value={chosen} options={orders} onChange={setOrder} />
          <Slider
            label="Output tiles kept in fast memory"
            value={chosen === 'inner-product' ? 1 : slots}
            min={0}
            max={n}
            onChange={value => {
              if (chosen === 'outer-product') setSlots(value);
            }}
          />
        </div>
        <div className="loops">
          <VisitGrid n={n} order={chosen} slots={slots} visits={all} at={playback.at} />
          <div className="stack">
            <Player playback={playback} unit="tile" />
            <TrafficTable now={visit?.traffic ?? null} total={totalTraffic(chosen, n, slots)} n={n} />
            <p className="note">
              {chosen === 'inner-product'
                ? 'An output stays near until its row is done: loaded and stored once.'
                : slots === 0
                  ? 'Every visit loads an unfinished output and stores it again.'
                  : `${slots} of ${n} outputs stay near; each saves ${n - 1} loads and ${n - 1} stores.`}
            </p>
          </div>
        </div>
      </section>
      <section className="panel" aria-labelledby="roofline-title">
        <h2 id="roofline-title">Arithmetic per byte</h2>
        <Roofline order={chosen} />
      </section>
      <Reveal summary="Why not keep all outputs?">
        <p>
          Fast memory is shared: what holds outputs cannot hold keys. With all n outputs kept, the stores are
          those of the other order, at the price of fast memory that grows with the sequence.
        </p>
      </Reveal>
    </div>
  );
}
