import type { GraphDType } from './dtype.ts';

/** An extent that is known only when the graph is compiled. */
export const UNKNOWN = -1;

/** Extents, outermost first, with `UNKNOWN` for unknown ones; null when the rank is unknown. */
export type LogicalShape = readonly number[] | null;

/** The role of a tensor in a graph. `host_scalar`: a number that the host knows, of shape []. */
export type TensorProperty = 'undef' | 'variable' | 'constant' | 'host_scalar';

/** What determines the memory layout of a tensor: its strides, or, for `any`, the library. */
export type LayoutType = 'strided' | 'any' | 'opaque' | 'undef';

/** A tensor of a graph, before it has memory. Operations that name the same id are connected. */
export interface LogicalTensor {
  /** Unique within the graph. */
  readonly id: number;
  /** The name in errors and exports. */
  readonly name?: string;
  /** The dtype of the elements. */
  readonly dtype: GraphDType;
  /** The extents, as far as they are known. */
  readonly shape: LogicalShape;
  /** Strides in elements. Null means contiguous in row-major order. */
  readonly strides: readonly number[] | null;
  /** What determines the memory layout. */
  readonly layout: LayoutType;
  /** The role of the tensor. */
  readonly property: TensorProperty;
}

/** Whether every extent is known. */
export function isKnown(shape: LogicalShape): shape is readonly number[] {
  return shape !== null && !shape.includes(UNKNOWN);
}

/** A tensor as error messages show it: id, name, dtype and shape. */
export function describeTensor({ id, name, dtype, shape }: LogicalTensor): string {
  const extents = shape === null ? '?' : shape.map(n => (n === UNKNOWN ? '?' : n)).join(', ');
  return `${id}${name ? ` '${name}'` : ''} (${dtype} [${extents}])`;
}
