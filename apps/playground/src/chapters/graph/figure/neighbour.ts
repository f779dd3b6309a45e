import type { Box } from '../../../logic/graph/graph-layout.ts';

/** The direction of an arrow key. */
const directions: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/**
 * The box that an arrow key leads to from another box: the nearest in that direction, with sideways distance
 * counted twice.
 */
export function neighbour<T extends Box>(boxes: readonly T[], from: Box, key: string): T | undefined {
  const direction = directions[key];
  if (!direction) return undefined;
  const [dx, dy] = direction;
  let nearest: T | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const box of boxes) {
    const [x, y] = [box.x - from.x, box.y - from.y];
    const along = x * dx + y * dy;
    const distance = along + 2 * Math.abs(x * dy + y * dx);
    if (along > 1 && distance < least) {
      nearest = box;
      least = distance;
    }
  }
  return nearest;
}
