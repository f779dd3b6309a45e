import type { GraphDType } from './dtype.ts';

/** An extent that is not known before compile. */
export const UNKNOWN = -1;

/** Extents, outermost first, `UNKNOWN` where one is not known; null when not even their number is. */
export type LogicalShape = readonly number[] | null;

/** What a tensor is to a graph. `host_scalar`: a number that the host knows, with shape []. */
export type TensorProperty = 'undef' | 'variable' | 'constant' | 'host_scalar';

/** Who decides how a tensor lies in memory: its strides, or (`any`) the library. */
export type LayoutType = 'strided' | 'any' | 'opaque' | 'undef';

/** A tensor of a graph: what is known of it before there is memory. An edge of the graph, by its id. */
export interface LogicalTensor {
  readonly id: number;
  readonly name?: string;
  readonly dtype: GraphDType;
  readonly shape: LogicalShape;
  /** In elements; null: dense row-major where the shape is known. */
  readonly strides: readonly number[] | null;
  readonly layout: LayoutType;
  readonly property: TensorProperty;
}

/** Whether every extent is known. */
export function isKnown(shape: LogicalShape): shape is readonly number[] {
  return shape !== null && !shape.includes(UNKNOWN);
}

/** A tensor for people: its id, its name if it has one, its dtype and shape. */
export function describeTensor({ id, name, dtype, shape }: LogicalTensor): string {
  const extents = shape === null ? '?' : shape.map(n => (n === UNKNOWN ? '?' : n)).join(', ');
  return `${id}${name ? ` '${name}'` : ''} (${dtype} [${extents}])`;
}
