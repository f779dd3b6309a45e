import type { GraphNode } from '../../../ir/node.ts';
import type { Attributes } from '../../../ir/schema/attribute.ts';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { OnnxAttribute } from '../model.ts';
import type { OnnxWriter } from './writer.ts';

/**
 * A function that writes an operation as ONNX nodes.
 * @throws UnsupportedOperationError for an operation that ONNX cannot express.
 */
export type Translation = (node: GraphNode, write: OnnxWriter) => void;

/** Translations by the kind of the operation. */
export type Translations = Readonly<Record<string, Translation>>;

/**
 * Converts attributes of an operation to ONNX: integers, texts and lists, from a map of ONNX's names to the
 * operation's.
 */
export function renamed(
  attributes: Attributes,
  names: Readonly<Record<string, string>>,
): Record<string, OnnxAttribute> {
  const given = Object.entries(names).map(([onnx, own]): [string, OnnxAttribute] => {
    const value = attributes[own];
    if (typeof value === 'string') return [onnx, { string: value }];
    return [onnx, typeof value === 'object' ? { ints: value } : { int: Number(value) }];
  });
  return Object.fromEntries(given);
}

/**
 * Translates an operation to an ONNX operator with the same operands.
 * @param names the names of the attributes, by their names in ONNX.
 * @param indicesAt the operand with indices, which are 64-bit integers in ONNX.
 */
export function same(op: string, names: Readonly<Record<string, string>>, indicesAt?: number): Translation {
  return ({ inputs, outputs: [dst], attributes }, write) => {
    const operands = inputs.map((t, n) => (n === indicesAt ? write.as(t, 'i64') : write.name(t)));
    write.node(op, operands, renamed(attributes, names), write.name(dst));
  };
}

/** The dtype for mixed operands: their common dtype, or f32. */
export function commonDType(...tensors: readonly LogicalTensor[]): GraphDType {
  const [{ dtype }] = tensors;
  return tensors.every(t => t.dtype === dtype) ? dtype : 'f32';
}
