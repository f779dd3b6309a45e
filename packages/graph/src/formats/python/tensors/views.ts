import { contiguousStrides, elementCount, type Shape, type TensorDesc } from '@tilewise/core';
import {
  type Axis,
  ExportError,
  isSharded,
  joinFactors,
  localShape,
  sameAxis,
  splitFactors,
} from './axes.ts';
import type { Dialect } from './dialect.ts';

/** A part of a dense tensor's axis that a dimension of a view runs along. */
interface Piece {
  readonly axis: number;
  readonly extent: number;
  readonly stride: number;
}

/**
 * How the dimensions of a view map to a dense tensor: each dimension runs along pieces of its axes, the
 * slowest first.
 */
interface ViewPlan {
  /** The pieces of each axis of the tensor, the slowest first. */
  readonly axes: readonly (readonly Piece[])[];
  /** The pieces of each dimension of the view; null if all its positions read one element. */
  readonly dimensions: readonly (readonly Piece[] | null)[];
}

/** A tensor in Python: an expression, and the axes of the whole tensor. */
export interface Viewed {
  readonly code: string;
  readonly axes: readonly Axis[];
}

/** Applies a view to a tensor, as reshape, permute and expand. */
export function viewed(root: Viewed, shape: Shape, view: TensorDesc, dialect: Dialect): Viewed {
  if (sameLayout(shape, view)) return root;
  if (isDense(shape, view)) return reshaped(root, view.shape);
  const { axes, dimensions } = plan(shape, view);
  const partOf = partsOf(axes, root.axes);
  const fine = axes.flat();
  const order = dimensions.flatMap(pieces => pieces ?? []);
  const seen = dimensions.map(pieces => joinFactors((pieces ?? []).flatMap(partOf)));
  const one = permutationOf(shape, view.shape, axes, dimensions);
  if (one) return { code: permuted(root.code, one, dialect), axes: one.map(d => root.axes[d]) };
  let { code } = root;
  const moved = order.some((piece, n) => piece !== fine[n]);
  if (moved) {
    code = `${code}.reshape(${localShape(fine.map(partOf))})`;
    code = permuted(code, placesOf(order, fine), dialect);
  }
  const target = localShape(seen);
  if (!moved || target !== localShape(order.map(partOf))) code = `${code}.reshape(${target || '()'})`;
  const spread = dimensions.some((pieces, d) => pieces === null && view.shape[d] > 1);
  const full = seen.map((axis, d) =>
    dimensions[d] === null ? [{ role: null, extent: view.shape[d] }] : axis,
  );
  return spread ? { code: dialect.expand(code, localShape(full)), axes: full } : { code, axes: seen };
}

/** Undoes a view: the tensor from the computed values of its view. */
export function unviewed(value: Viewed, shape: Shape, view: TensorDesc, dialect: Dialect): Viewed {
  if (sameLayout(shape, view)) return value;
  if (isDense(shape, view)) return reshaped(value, shape);
  const { axes, dimensions } = plan(shape, view);
  const own = dimensions.map(pieces => {
    if (pieces === null) throw new ExportError('writes one element several times');
    return pieces;
  });
  const partOf = partsOf(own, value.axes);
  const fine = own.flat();
  const order = axes.flat();
  let { code } = value;
  if (order.some((piece, n) => piece !== fine[n])) {
    const inner = fine.map(partOf);
    if (localShape(inner) !== localShape(value.axes)) code = `${code}.reshape(${localShape(inner)})`;
    code = permuted(code, placesOf(order, fine), dialect);
  }
  const whole = axes.map(pieces => joinFactors(pieces.flatMap(partOf)));
  const isDone = order.length === shape.length && code !== value.code;
  return { code: isDone ? code : `${code}.reshape(${localShape(whole) || '()'})`, axes: whole };
}

/** Returns a function that gives the factors of each piece of the axes. */
function partsOf(cut: ViewPlan['axes'], axes: readonly Axis[]): (piece: Piece) => Axis {
  const parts = new Map<Piece, Axis>();
  cut.forEach((pieces, n) => {
    const extents = pieces.map(({ extent }) => extent);
    for (const [k, axis] of splitFactors(axes[n], extents).entries()) parts.set(pieces[k], axis);
  });
  return piece => parts.get(piece) ?? [];
}

const placesOf = (order: readonly Piece[], among: readonly Piece[]): number[] =>
  order.map(piece => among.indexOf(piece));

function sameLayout(shape: Shape, view: TensorDesc): boolean {
  const strides = contiguousStrides(shape);
  return (
    shape.length === view.shape.length &&
    shape.every((n, d) => n === view.shape[d] && (n === 1 || strides[d] === view.strides[d]))
  );
}

/** Whether a view contains the whole tensor in its own order. */
function isDense(shape: Shape, { shape: seen, strides }: TensorDesc): boolean {
  const dense = contiguousStrides(seen);
  return (
    elementCount(shape) === elementCount(seen) && seen.every((n, d) => n === 1 || strides[d] === dense[d])
  );
}

/** Reshapes a tensor, distributing its factors over the new axes. */
function reshaped({ code, axes }: Viewed, shape: Shape): Viewed {
  const seen = splitFactors(joinFactors(axes.flat()), shape).map(joinFactors);
  return { code: `${code}.reshape(${localShape(seen) || '()'})`, axes: seen };
}

function permuted(code: string, order: readonly number[], dialect: Dialect): string {
  if (order.every((d, n) => d === n)) return code;
  const last = order.length - 1;
  const swaps = order.every((d, n) => d === (n === last ? last - 1 : n === last - 1 ? last : n));
  return swaps ? `${code}.mT` : dialect.permute(code, order);
}

/** The permutation of a view that only moves axes; null for any other view. */
function permutationOf(
  shape: Shape,
  view: Shape,
  axes: ViewPlan['axes'],
  dimensions: ViewPlan['dimensions'],
): number[] | null {
  if (shape.length !== view.length || axes.some(pieces => pieces.length > 1)) return null;
  const ones = shape.flatMap((n, d) => (n === 1 ? [d] : []));
  const order = dimensions.map((pieces, d) =>
    view[d] === 1 ? (ones.shift() ?? -1) : (pieces?.[0]?.axis ?? -1),
  );
  return order.includes(-1) || dimensions.some(pieces => (pieces?.length ?? 2) > 1) ? null : order;
}

/**
 * Finds the pieces that each dimension of a view runs along.
 * @throws ExportError for a view of a part of the tensor.
 */
function plan(shape: Shape, view: TensorDesc): ViewPlan {
  const strides = contiguousStrides(shape);
  const axes: Piece[][] = shape.map(() => []);
  const dimensions = view.shape.map((extent, d) => {
    const pieces: Piece[] = [];
    let stride = view.strides[d];
    if (extent === 1) return pieces;
    if (stride === 0) return null;
    for (let rest = extent; rest > 1; ) {
      const axis = shape.findIndex((n, a) => n > 1 && strides[a] <= stride && stride < strides[a] * n);
      const inner = stride / strides[axis];
      const own = Math.min(rest, axis < 0 ? 0 : shape[axis] / inner);
      if (!Number.isInteger(inner) || own < 2 || !Number.isInteger(own) || rest % own !== 0) {
        throw new ExportError('reads elements of a tensor in an order that no Python view has');
      }
      const piece = { axis, extent: own, stride };
      pieces.unshift(piece);
      axes[axis].push(piece);
      rest /= own;
      stride *= own;
    }
    return pieces;
  });
  axes.forEach((pieces, a) => {
    pieces.sort((x, y) => y.stride - x.stride);
    if (pieces.reduce((n, p) => n * p.extent, 1) !== shape[a])
      throw new ExportError('reads only a part of a tensor');
  });
  return { axes, dimensions };
}

/** The axes of tensors that broadcast to a shape: sharded if those of a tensor are, else whole. */
export function broadcastAxes(shape: Shape, tensors: readonly (readonly Axis[])[]): Axis[] {
  return shape.map((extent, d) => {
    const own = tensors.map(axes => axes[d - shape.length + axes.length]).filter(axis => axis !== undefined);
    const cut = own.filter(isSharded);
    const [first] = cut;
    if (cut.some(axis => !sameAxis(axis, first))) {
      throw new ExportError(`has operands that are sharded in different ways along axis ${d}`);
    }
    return first ?? (extent === 1 ? [] : [{ role: null, extent }]);
  });
}
