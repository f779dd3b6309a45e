import { useMemo } from 'react';
import { type LoopOrder, totalTraffic, visits } from '../../logic/schedule/loop-order.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Player } from '../../ui/controls/Player.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { usePlayback } from '../../ui/controls/usePlayback.ts';
import { TrafficTable } from './TrafficTable.tsx';
import { VisitGrid } from './VisitGrid.tsx';

const orders: readonly LoopOrder[] = ['inner-product', 'outer-product'];

/** Both loop orders side by side, visit by visit, with the tiles that each has moved. */
export function Schedules() {
  const { loops: text } = useText();
  const [n, setN] = useUrlNumber('tiles', 8, { min: 2, max: 12 });
  const [wanted, setSlots] = useUrlNumber('slots', 0, { min: 0, max: 12 });
  const slots = Math.min(wanted, n);
  const schedules = useMemo(
    () =>
      orders.map(order => ({
        order,
        all: visits(order, n, slots),
        total: totalTraffic(order, n, slots),
      })),
    [n, slots],
  );
  const playback = usePlayback('at', n * n, 140, 19);
  return (
    <div className="stack">
      <div className="toolbar">
        <Player playback={playback} unit="visit" />
        <Slider label={text.tiles} value={n} min={2} max={12} onChange={setN} />
        <Slider label={text.slots} value={slots} min={0} max={n} onChange={setSlots} />
      </div>
      <div className="beside">
        {schedules.map(({ order, all, total }) => (
          <section key={order} className="schedule" aria-label={text.orders[order]}>
            <h3>{text.orders[order]}</h3>
            <VisitGrid n={n} order={order} slots={slots} visits={all} at={playback.at} />
            <TrafficTable
              label={text.orders[order]}
              now={all[playback.at - 1]?.traffic ?? null}
              total={total}
              n={n}
            />
            <p className="note">
              {order === 'inner-product'
                ? text.outputStays
                : slots === 0
                  ? text.everyVisit
                  : text.someStay(slots, n)}
            </p>
          </section>
        ))}
      </div>
    </div>
  );
}
