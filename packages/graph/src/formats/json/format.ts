import type { AttributeType } from '../../ir/schema/attribute.ts';

/** oneDNN's serialized graph (the format of its graph dumps and of benchdnn). */
export interface OneDnnGraph {
  readonly version: string;
  readonly engine_kind: string;
  readonly fpmath_mode: string;
  readonly fpmath_mode_apply_to_int?: 'true' | 'false';
  readonly input_ports?: readonly number[];
  readonly output_ports?: readonly number[];
  readonly graph: readonly OneDnnOp[];
}

/** An operation of it. */
export interface OneDnnOp {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly attrs?: Readonly<Record<string, OneDnnAttribute>>;
  readonly inputs: readonly OneDnnTensor[];
  readonly outputs: readonly OneDnnTensor[];
}

/**
 * A bool is written as 0 or 1, and a float that JSON has not, or writes as another, as `inf`, `-inf`, `nan`
 * or `-0`.
 */
export interface OneDnnAttribute {
  readonly type: AttributeType;
  readonly value: number | string | readonly (number | string)[];
}

/** The floats that JSON has not, and −0, which `JSON.stringify` writes as 0, by their names. */
export const namedFloats: Readonly<Record<string, number>> = {
  inf: Infinity,
  '-inf': -Infinity,
  nan: NaN,
  '-0': -0,
};

/**
 * A logical tensor of it. An unknown extent or stride is −2⁶³; a list of nothing but that is a list of
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

/** What stands for an extent or stride that is not known: the least 64-bit integer. */
export const UNKNOWN_DIMENSION: number = -(2 ** 63);

/** Ids of the tensors that enter (once per input of an operation) and leave a graph. */
export interface Ports {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** What a graph of oneDNN's says about itself besides its operations. */
export interface GraphHeader {
  readonly version: string;
  readonly engineKind: string;
  readonly fpmathMode: string;
  readonly fpmathModeApplyToInt?: boolean | undefined;
  /** The ports that its JSON lists: as they follow from the operations, none, or those that a file had. */
  readonly ports: 'derived' | 'none' | Ports;
}
