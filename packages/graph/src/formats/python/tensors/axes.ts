import type { Shape } from '@tilewise/core';

/** The axes that may be sharded over ranks: the entries of a batch and the positions of a sequence. */
export const ROLES = ['batch', 'sequence'] as const;

/** An axis that may be sharded over ranks: the entries of a batch or the positions of a sequence. */
export type Role = (typeof ROLES)[number];

/** A factor of an axis; `extent` is that of the whole tensor, not of a rank's part. */
export interface Factor {
  readonly role: Role | null;
  readonly extent: number;
}

/**
 * An axis of a tensor as a product of factors, the slowest first. An axis with a row per token has the
 * factors batch and sequence.
 */
export type Axis = readonly Factor[];

/**
 * The reason why an operation cannot be exported or sharded over ranks. The operation's name is put before
 * the reason.
 */
export class ExportError extends Error {
  override readonly name: string = 'ExportError';
}

/** An axis that is not sharded. */
export function unshardedAxis(extent: number): Axis {
  return extent === 1 ? [] : [{ role: null, extent }];
}

export function unshardedAxes(shape: Shape): Axis[] {
  return shape.map(unshardedAxis);
}

/** Whether each rank has only a part of an axis. */
export function isSharded(axis: Axis): boolean {
  return axis.some(({ role }) => role !== null);
}

/** The roles along which a tensor is sharded. */
export function rolesOf(axes: readonly Axis[]): Role[] {
  return ROLES.filter(role => axes.flat().some(factor => factor.role === role));
}

/** The number of ranks that have the same part of a tensor, in Python. */
export function copies(axes: readonly Axis[]): string {
  const roles = rolesOf(axes).map(role => `"${role}"`);
  return roles.length === 0 ? 'place.ranks' : `place.copies(${roles.join(', ')})`;
}

export function sameAxis(a: Axis, b: Axis): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function extentOf(axis: Axis): number {
  return axis.reduce((n, { extent }) => n * extent, 1);
}

/** Joins factors to one axis: neighbours without a role become one factor, and factors of 1 are dropped. */
export function joinFactors(factors: Axis): Axis {
  const axis: Factor[] = [];
  for (const factor of factors) {
    const last = axis.at(-1);
    if (factor.role === null && factor.extent === 1) continue;
    if (factor.role === null && last?.role === null) {
      axis[axis.length - 1] = { role: null, extent: last.extent * factor.extent };
    } else axis.push(factor);
  }
  return axis;
}

/** The factors of an axis as Python arguments: `"batch", "sequence", 4`. */
export function factorList(axis: Axis): string {
  if (axis.length === 0) return '1';
  return axis.map(({ role, extent }) => (role === null ? `${extent}` : `"${role}"`)).join(', ');
}

/** The extent of a rank's part of an axis, in Python. */
export function localExtent(axis: Axis): string {
  const number = axis.reduce((n, { role, extent }) => (role === null ? n * extent : n), 1);
  const names = axis.flatMap(({ role }) => (role === null ? [] : [role === 'batch' ? 'b' : 's']));
  return [...names, ...(number > 1 || names.length === 0 ? [`${number}`] : [])].join(' * ');
}

export function localShape(axes: readonly Axis[]): string {
  return axes.map(localExtent).join(', ');
}

/**
 * Distributes the factors of an axis over extents with the same product.
 * @throws ExportError if a factor with a role would have to be split.
 */
export function splitFactors(axis: Axis, extents: readonly number[]): Axis[] {
  const open = [...axis];
  return extents.map(extent => {
    const taken: Factor[] = [];
    let rest = extent;
    while (rest > 1) {
      const factor = open.shift();
      if (!factor) throw new ExportError('has more elements than its tensor');
      const own = Math.min(factor.extent, rest);
      if (factor.extent % own !== 0 || rest % own !== 0 || (factor.role && own !== factor.extent)) {
        throw new ExportError(`splits the ${factor.role ?? 'extent'} of ${factor.extent} by ${rest}`);
      }
      taken.push({ role: factor.role, extent: own });
      if (own < factor.extent) open.unshift({ role: null, extent: factor.extent / own });
      rest /= own;
    }
    while (extent === 1 && open[0]?.extent === 1) taken.push(...open.splice(0, 1));
    return taken;
  });
}
