import { type GraphDType, graphDTypeNames } from '../tensor/dtype.ts';

/** An input or output of an operation. */
export interface PortSchema {
  readonly name: string;
  /** Ports of the same letter have the same dtype: that of the first of them. */
  readonly type: string;
  readonly among: readonly GraphDType[];
  readonly optional?: boolean;
  /** Any number of tensors from here on. */
  readonly variadic?: boolean;
}

/** The dtypes of arithmetic. */
export const floats: readonly GraphDType[] = ['f32', 'bf16', 'f16'];

/** Dtypes by the names that port lists use. */
const dtypeSets: Readonly<Record<string, readonly GraphDType[]>> = {
  floats,
  numbers: [...floats, 'i32'],
  any: graphDTypeNames,
};

/** Reads a port list; `OperationSchema` says how it is written. */
export function parsePorts(ports: string): readonly PortSchema[] {
  return ports.split(' ').flatMap(port => {
    const [, dots, name, question, type, dtypes = 'floats'] =
      /^(\.\.\.)?(\w+)(\?)?:(\w+)(?:=(.+))?$/.exec(port) ?? [];
    if (name === undefined) return [];
    const among = dtypes.split('|').flatMap(dtype => dtypeSets[dtype] ?? [dtype as GraphDType]);
    return { name, type, among, ...(question && { optional: true }), ...(dots && { variadic: true }) };
  });
}
