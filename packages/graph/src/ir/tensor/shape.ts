import { InvalidShapeError } from '@tilewise/core';
import { type LogicalShape, type LogicalTensor, UNKNOWN } from './logical-tensor.ts';

/** A rule that the shapes of an operation break; `namingOperation` names the operation. */
class BrokenShapeRule extends InvalidShapeError {
  readonly rule: string;
  constructor(rule: string) {
    super('an operation', rule);
    this.rule = rule;
  }
}

/** Refuses the shapes of an operation. */
export function refuse(rule: string): never {
  throw new BrokenShapeRule(rule);
}

/**
 * Runs the rules of an operation's shapes.
 * @throws InvalidShapeError naming the operation and the rule that its shapes break.
 */
export function namingOperation<T>(operation: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof BrokenShapeRule ? new InvalidShapeError(operation, error.rule) : error;
  }
}

/**
 * The shape that shapes broadcast to, as in NumPy: aligned at the last dimension, with extents that are equal
 * or 1. An unknown extent fits any extent. Refuses shapes that do not fit.
 */
export function broadcastShapes(...shapes: readonly LogicalShape[]): LogicalShape {
  if (shapes.some(shape => shape === null)) return null;
  const known = shapes as readonly (readonly number[])[];
  const rank = Math.max(0, ...known.map(shape => shape.length));
  return Array.from({ length: rank }, (_, d) => {
    let extent = 1;
    for (const shape of known) {
      const n = shape[d - rank + shape.length] ?? 1;
      if (n === 1 || n === extent) continue;
      if (extent !== 1 && extent !== UNKNOWN && n !== UNKNOWN)
        refuse(`cannot broadcast ${known.map(s => `[${s}]`).join(' with ')}`);
      if (extent === 1 || extent === UNKNOWN) extent = n;
    }
    return extent;
  });
}

/** Whether a declared shape, which may have unknown extents, allows a shape whose extents are all known. */
export function admits(declared: LogicalShape, shape: readonly number[]): boolean {
  if (declared === null) return true;
  return declared.length === shape.length && declared.every((n, d) => n === UNKNOWN || n === shape[d]);
}

/** Whether two shapes have the same extents, as far as they are known. */
export function agree(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((n, d) => n === b[d] || n === UNKNOWN || b[d] === UNKNOWN);
}

/**
 * Checks the shape of an operand, as far as it is known.
 * @param what what the operation needs, such as `a bias of`.
 */
export function checkShape(what: string, shape: LogicalShape, wanted: LogicalShape): void {
  if (shape && wanted && !agree(shape, wanted)) refuse(`needs ${what} [${wanted}], got [${shape}]`);
}

/** Checks that operands broadcast to a shape, and returns the shape. */
export function broadcastTo(
  shape: LogicalShape,
  operands: readonly Pick<LogicalTensor, 'shape'>[],
): LogicalShape {
  const all = broadcastShapes(shape, ...operands.map(t => t.shape));
  checkShape('operands that broadcast to', all, shape);
  return shape;
}

/**
 * Merges a declared shape with an inferred one.
 * @throws InvalidShapeError naming the tensor when they contradict each other.
 */
export function mergeShapes(tensor: string, given: LogicalShape, inferred: LogicalShape): LogicalShape {
  if (given === null || inferred === null) return given ?? inferred;
  if (!agree(given, inferred))
    throw new InvalidShapeError(tensor, `has shape [${given}], but its operation produces [${inferred}]`);
  return given.map((n, d) => (n === UNKNOWN ? inferred[d] : n));
}

/**
 * A dimension counted from the start; a negative one counts from the end. Undefined when it is out of range.
 */
export function axisOf(axis: number, rank: number): number | undefined {
  return Number.isInteger(axis) && axis >= -rank && axis < rank ? (axis + rank) % rank : undefined;
}

/** An axis of an operation, counted from the start. Refuses one that is out of range. */
export function checkedAxis(axis: number, shape: readonly number[]): number {
  return axisOf(axis, shape.length) ?? refuse(`has no axis ${axis} in [${shape}]`);
}

/** A shape with another extent along an axis. */
export function withExtent(shape: readonly number[], axis: number, extent: number): number[] {
  return shape.map((n, d) => (d === axis ? extent : n));
}

/** A shape with extents of 1 along axes. */
export function keptShape(shape: readonly number[], axes: readonly number[]): number[] {
  return shape.map((n, d) => (axes.includes(d) ? 1 : n));
}

/** The extents of a tensor whose shape is known. */
export function shapeOf({ shape }: Pick<LogicalTensor, 'shape'>): readonly number[] {
  return shape ?? [];
}
