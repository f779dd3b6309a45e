import { select } from 'd3-selection';
import { type D3ZoomEvent, type ZoomBehavior, type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

/** The position of a sheet under a window: moved by (x, y) and scaled by k. */
export interface PanZoom {
  readonly transform: ZoomTransform;
  readonly zoomBy: (factor: number) => void;
  /** Fits the whole sheet into the window, as far as the text stays readable. */
  readonly fit: () => void;
  /** Moves the sheet just far enough to bring one of its points into the window. */
  readonly reveal: (x: number, y: number) => void;
}

const [smallest, largest] = [0.3, 2.5];
/** The smallest scale that fitting uses, so that text stays readable. */
const readable = 0.6;
const margin = 40;

/**
 * Dragging, pinching, and the wheel with Ctrl held move and scale a sheet. The plain wheel and one finger
 * scroll the page, so the window must not catch these.
 */
export function usePanZoom(
  view: RefObject<HTMLElement | null>,
  { width, height }: { readonly width: number; readonly height: number },
): PanZoom {
  const [transform, setTransform] = useState(zoomIdentity);
  const behaviour = useRef<ZoomBehavior<HTMLElement, unknown>>(null);
  useEffect(() => {
    const element = view.current;
    if (!element) return;
    const zoomer = zoom<HTMLElement, unknown>()
      .scaleExtent([smallest, largest])
      .filter((event: MouseEvent & Partial<TouchEvent>) => {
        if (event.type === 'wheel') return event.ctrlKey;
        return event.touches ? event.touches.length > 1 : !event.button;
      })
      .on('zoom', (event: D3ZoomEvent<HTMLElement, unknown>) => setTransform(event.transform));
    behaviour.current = zoomer;
    const selection = select<HTMLElement, unknown>(element);
    selection.call(zoomer).on('dblclick.zoom', null);
    return () => {
      selection.on('.zoom', null);
    };
  }, [view]);

  const move = useCallback(
    (to: ZoomTransform) => {
      if (view.current && behaviour.current) {
        behaviour.current.transform(select<HTMLElement, unknown>(view.current), to);
      }
    },
    [view],
  );
  const fit = useCallback(() => {
    const { clientWidth = 0, clientHeight = 0 } = view.current ?? {};
    const k = Math.max(readable, Math.min(1, clientWidth / width, clientHeight / height));
    const x = (clientWidth - k * width) / 2;
    move(zoomIdentity.translate(x, Math.max(0, (clientHeight - k * height) / 2)).scale(k));
  }, [view, width, height, move]);
  useEffect(() => {
    fit();
    const observer = new ResizeObserver(fit);
    if (view.current) observer.observe(view.current);
    return () => observer.disconnect();
  }, [view, fit]);

  return {
    transform,
    fit,
    zoomBy(factor) {
      if (view.current && behaviour.current) {
        behaviour.current.scaleBy(select<HTMLElement, unknown>(view.current), factor);
      }
    },
    reveal(x, y) {
      const { clientWidth = 0, clientHeight = 0 } = view.current ?? {};
      const [left, top] = transform.apply([x, y]);
      const inside = (at: number, extent: number): number => Math.max(margin, Math.min(extent - margin, at));
      const [dx, dy] = [inside(left, clientWidth) - left, inside(top, clientHeight) - top];
      if (dx !== 0 || dy !== 0)
        move(zoomIdentity.translate(transform.x + dx, transform.y + dy).scale(transform.k));
    },
  };
}
