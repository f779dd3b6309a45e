import type { GridPoint } from '../grid.ts';
import type { Point } from '../point.ts';
import type { Sizes } from '../sizes.ts';

/** Makes a problem from a point of a group's grid; null for a combination that the group omits. */
export type MakePoint = (values: GridPoint, sizes: Sizes) => Point | null;

/** How a group is run here, or why it is not. */
export type GroupRunner =
  | {
      readonly make: MakePoint;
      /** The axes that the file describes in words. */
      readonly axes?: Readonly<Record<string, readonly unknown[]>>;
    }
  | { readonly unsupported: string };
