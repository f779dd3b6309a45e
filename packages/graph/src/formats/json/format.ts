import type { AttributeType } from '../../ir/schema/attribute.ts';

/** A oneDNN graph in JSON, the format of oneDNN's graph dumps and of benchdnn. */
export interface OneDnnGraph {
  readonly version: string;
  readonly engine_kind: string;
  readonly fpmath_mode: string;
  readonly fpmath_mode_apply_to_int?: 'true' | 'false';
  readonly input_ports?: readonly number[];
  readonly output_ports?: readonly number[];
  readonly graph: readonly OneDnnOp[];
}

/** An operation in oneDNN's JSON. */
export interface OneDnnOp {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly attrs?: Readonly<Record<string, OneDnnAttribute>>;
  readonly inputs: readonly OneDnnTensor[];
  readonly outputs: readonly OneDnnTensor[];
}

/** An attribute. A bool is written as 0 or 1, and floats that JSON lacks as `inf`, `-inf`, `nan` and `-0`. */
export interface OneDnnAttribute {
  readonly type: AttributeType;
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
  readonly id: number;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
  readonly layout_type: string;
  readonly property_type: string;
}

/** The number that stands for an unknown extent or stride: the smallest 64-bit integer. */
export const UNKNOWN_DIMENSION: number = -(2 ** 63);

/** The ids of the tensors that enter a graph (once per input of an operation) and leave it. */
export interface Ports {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** The header of a oneDNN graph. */
export interface GraphHeader {
  readonly version: string;
  readonly engineKind: string;
  readonly fpmathMode: string;
  readonly fpmathModeApplyToInt?: boolean | undefined;
  /** The ports in the JSON: derived from the operations, none, or those read from a file. */
  readonly ports: 'derived' | 'none' | Ports;
}
