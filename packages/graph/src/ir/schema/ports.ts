import { type GraphDType, graphDTypeNames } from '../tensor/dtype.ts';

/** An input or output of an operation. */
export interface PortSchema {
  readonly name: string;
  /**
   * The letter of the port's dtype: all tensors of ports with this letter have one dtype. Empty if each
   * tensor has a dtype of its own.
   */
  readonly type: string;
  readonly among: readonly GraphDType[];
  readonly optional?: boolean;
  /** Whether the port takes any number of tensors. */
  readonly variadic?: boolean;
}

/** The dtypes that arithmetic accepts. */
export const floats: readonly GraphDType[] = ['f32', 'bf16', 'f16'];

/** Dtypes by the names that port lists use. */
const dtypeSets: Readonly<Record<string, readonly GraphDType[]>> = {
  floats,
  numbers: [...floats, 'i32'],
  any: graphDTypeNames,
};

/** Parses a port list; `OperationSchema` describes the syntax. */
export function parsePorts(ports: string): readonly PortSchema[] {
  return ports.split(' ').flatMap(port => {
    const [, dots, name, question, type, dtypes = 'floats'] =
      /^(\.\.\.)?(\w+)(\?)?:(\w*)(?:=(.+))?$/.exec(port) ?? [];
    if (name === undefined) return [];
    const among = dtypes.split('|').flatMap(dtype => dtypeSets[dtype] ?? [dtype as GraphDType]);
    return { name, type, among, ...(question && { optional: true }), ...(dots && { variadic: true }) };
  });
}
