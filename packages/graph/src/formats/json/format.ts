import type { AttributeType } from '../../ir/schema/attribute.ts';

/** A oneDNN graph in JSON, the format of oneDNN's graph dumps and of benchdnn. */
export interface OneDnnGraph {
  /** The version of oneDNN that wrote the graph, such as `3.12.0`. */
  readonly version: string;
  /** `cpu`, `gpu` or `any`. Kept, but not interpreted. */
  readonly engine_kind: string;
  /** The precision that oneDNN may compute in, such as `strict`. Kept, but not interpreted. */
  readonly fpmath_mode: string;
  /** Whether the math mode applies to integer operations too. Kept, but not interpreted. */
  readonly fpmath_mode_apply_to_int?: 'true' | 'false';
  /** The ids of the tensors that enter the graph, once per input of an operation. */
  readonly input_ports?: readonly number[];
  /** The ids of the tensors that leave the graph. */
  readonly output_ports?: readonly number[];
  /** The operations. */
  readonly graph: readonly OneDnnOp[];
}

/** An operation in oneDNN's JSON. */
export interface OneDnnOp {
  /** Unique among the operations of the graph. */
  readonly id: number;
  /** The name in errors and exports. */
  readonly name: string;
  /** The kind, such as `MatMul`. */
  readonly kind: string;
  /** The attributes by name. Default: none. */
  readonly attrs?: Readonly<Record<string, OneDnnAttribute>>;
  /** The tensors that the operation reads, in oneDNN's order. */
  readonly inputs: readonly OneDnnTensor[];
  /** The tensors that the operation writes, in oneDNN's order. */
  readonly outputs: readonly OneDnnTensor[];
}

/** An attribute. A bool is written as 0 or 1, and floats that JSON lacks as `inf`, `-inf`, `nan` and `-0`. */
export interface OneDnnAttribute {
  /** The type of the value, such as `s64[]`. */
  readonly type: AttributeType;
  /** The value in the encoding of JSON. */
  readonly value: number | string | readonly (number | string)[];
}

/** The names of floats that JSON lacks, and of −0, which `JSON.stringify` writes as 0. */
export const namedFloats: Readonly<Record<string, number>> = {
  inf: Infinity,
  '-inf': -Infinity,
  nan: NaN,
  '-0': -0,
};

/**
 * A logical tensor in oneDNN's JSON. An unknown extent or stride is −2⁶³; a list with only that number has an
 * unknown length.
 */
export interface OneDnnTensor {
  /** Unique within the graph: operations that name one id share the tensor. */
  readonly id: number;
  /** oneDNN's name of the dtype, such as `f32`, `s32` or `boolean`. */
  readonly dtype: string;
  /** The extents. */
  readonly shape: readonly number[];
  /** Elements from one index to the next, for each dimension. */
  readonly stride: readonly number[];
  /** `strided`, `any`, `opaque` or `undef`; see `LayoutType`. */
  readonly layout_type: string;
  /** `variable`, `constant`, `host_scalar` or `undef`; see `TensorProperty`. */
  readonly property_type: string;
}

/** The number that stands for an unknown extent or stride: the smallest 64-bit integer. */
export const UNKNOWN_DIMENSION: number = -(2 ** 63);

/** The ids of the tensors that enter a graph (once per input of an operation) and leave it. */
export interface Ports {
  /** The tensors that enter, once per input of an operation. */
  readonly inputs: readonly number[];
  /** The tensors that leave. */
  readonly outputs: readonly number[];
}

/** The header of a oneDNN graph. */
export interface GraphHeader {
  /** The version of oneDNN. Default: `3.12.0`. */
  readonly version: string;
  /** `cpu`, `gpu` or `any`. Default: `any`. */
  readonly engineKind: string;
  /** The precision that oneDNN may compute in. Default: `strict`. */
  readonly fpmathMode: string;
  /** Whether the math mode applies to integer operations too. Default: not written. */
  readonly fpmathModeApplyToInt?: boolean | undefined;
  /** The ports in the JSON: derived from the operations, none, or those read from a file. */
  readonly ports: 'derived' | 'none' | Ports;
}

/** The header of a graph that is not read from a file. */
export const standardHeader: GraphHeader = {
  version: '3.12.0',
  engineKind: 'any',
  fpmathMode: 'strict',
  ports: 'derived',
};
