import { elementCount, Tensor } from '@tilewise/core';
import { encodeModel, type OnnxAttribute, type OnnxInitializer } from '../../src/formats/onnx/model.ts';

/** The shape of an f32 input, or a tensor in the model. */
export type Given = readonly number[] | OnnxInitializer;

/** One node, and what the node is given. */
export interface OperatorCase {
  readonly op: string;
  readonly opset: number;
  readonly inputs: readonly Given[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** The element types of the outputs. Default: one f32 output. */
  readonly types?: readonly number[];
  readonly domain?: string;
}

/** Element types of ONNX. */
export const elementTypes = { F32: 1, U8: 2, I32: 6, I64: 7, BOOL: 9 } as const;
const bytesOf = ({ buffer }: { buffer: ArrayBuffer }): Uint8Array => new Uint8Array(buffer);
export const held = (
  type: number,
  shape: readonly number[],
  data: { buffer: ArrayBuffer },
): OnnxInitializer => ({
  ...{ name: '', type, shape },
  data: bytesOf(data),
});
export const i64 = (list: readonly number[], shape: readonly number[] = [list.length]): OnnxInitializer =>
  held(elementTypes.I64, shape, BigInt64Array.from(list, BigInt));
export const f32 = (list: readonly number[], shape: readonly number[] = [list.length]): OnnxInitializer =>
  held(elementTypes.F32, shape, Float32Array.from(list));
export const u8 = (list: readonly number[], shape: readonly number[] = [list.length]): OnnxInitializer =>
  held(elementTypes.U8, shape, Uint8Array.from(list));
export const ints = (...list: number[]): OnnxAttribute => ({ ints: list });
export const int = (value: number): OnnxAttribute => ({ int: value });
export const float = (value: number): OnnxAttribute => ({ float: value });
export const text = (string: string): OnnxAttribute => ({ string });

const isShape = (given: Given): given is readonly number[] => Array.isArray(given);

/** A model of one node, as the bytes of a file. Inputs that are tensors are initializers. */
export function modelOf({
  op,
  opset,
  inputs,
  attributes = {},
  types = [elementTypes.F32],
  domain,
}: OperatorCase): Uint8Array {
  const names = inputs.map((_, n) => `x${n}`);
  const outputs = types.map((type, n) => ({ name: `y${n}`, type, shape: null }));
  return encodeModel({
    ...{ name: op, opset },
    nodes: [{ op, domain, name: op, inputs: names, outputs: outputs.map(({ name }) => name), attributes }],
    initializers: inputs.flatMap((given, n) => (isShape(given) ? [] : [{ ...given, name: `x${n}` }])),
    inputs: inputs.flatMap((given, n) =>
      isShape(given) ? [{ name: `x${n}`, type: elementTypes.F32, shape: given }] : [],
    ),
    outputs,
  });
}

/** Tensors for the inputs of the model that are not in the file, always the same. */
export function feedsOf({ inputs }: OperatorCase): Record<string, Tensor> {
  return Object.fromEntries(
    inputs.flatMap((given, n) => {
      if (!isShape(given)) return [];
      const count = elementCount(given);
      const values = Float32Array.from({ length: count }, (_, i) => 1.5 * Math.sin(1.3 * i * i + n + 1));
      return [[`x${n}`, Tensor.from(values, given)] as const];
    }),
  );
}
