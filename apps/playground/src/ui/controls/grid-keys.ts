const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/**
 * Where a key leads from a cell of a grid of `rows` × `columns`: an arrow moves one step, with Shift `stride`
 * steps; null for other keys.
 */
export function keyStep(
  event: { readonly key: string; readonly shiftKey: boolean },
  [i, j]: readonly [number, number],
  [rows, columns]: readonly [number, number],
  stride = 8,
): [number, number] | null {
  const step = steps[event.key];
  if (!step) return null;
  const by = event.shiftKey ? stride : 1;
  const hold = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
  return [hold(i + by * step[0], rows), hold(j + by * step[1], columns)];
}

/** The cell of a grid that a pointer is over. */
export function pointedAt(
  event: { readonly clientX: number; readonly clientY: number; readonly currentTarget: Element },
  [rows, columns]: readonly [number, number],
): [number, number] {
  const box = event.currentTarget.getBoundingClientRect();
  const hold = (share: number, count: number): number =>
    Math.max(0, Math.min(count - 1, Math.floor(share * count)));
  return [
    hold((event.clientY - box.top) / box.height, rows),
    hold((event.clientX - box.left) / box.width, columns),
  ];
}
