import { type RefObject, useEffect } from 'react';

/**
 * A value in motion, from each place that was read to the place that was written. Elements name their place
 * in `data-place`.
 */
export interface Flight {
  readonly from: readonly { readonly place: string; readonly value: string }[];
  readonly to: string;
}

const duration = 420;

/**
 * Shows an executed instruction as motion: the values that it read fly to the place that it wrote. Nothing
 * moves for visitors who prefer reduced motion.
 */
export function useFlight(host: RefObject<HTMLElement | null>, flight: Flight | null): void {
  useEffect(() => {
    const stage = host.current;
    if (!stage || !flight || window.matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const at = (place: string): DOMRect | undefined =>
      stage.querySelector(`[data-place="${CSS.escape(place)}"]`)?.getBoundingClientRect();
    const origin = stage.getBoundingClientRect();
    const target = at(flight.to);
    if (!target) return;
    const chips = flight.from.flatMap(({ place, value }) => {
      const source = at(place);
      if (!source || place === flight.to) return [];
      const chip = document.createElement('span');
      chip.className = 'flight';
      chip.textContent = value;
      chip.setAttribute('aria-hidden', 'true');
      stage.append(chip);
      const move = (box: DOMRect, scale: number): string =>
        `translate(${box.x - origin.x + box.width / 2}px, ${box.y - origin.y + box.height / 2}px) translate(-50%, -50%) scale(${scale})`;
      const motion = chip.animate(
        [
          { transform: move(source, 1), opacity: 1 },
          { transform: move(target, 1), opacity: 1, offset: 0.85 },
          { transform: move(target, 0.9), opacity: 0 },
        ],
        { duration, easing: 'cubic-bezier(0.3, 0, 0.2, 1)', fill: 'both' },
      );
      motion.onfinish = () => chip.remove();
      return [chip];
    });
    return () => {
      for (const chip of chips) chip.remove();
    };
  }, [host, flight]);
}
