import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import type { AttributeSchema, AttributeTypes } from './attribute.ts';

/**
 * The tensors and attributes of an operation, written as a literal (`as const`) so that TypeScript infers the
 * types of calls from it.
 *
 * `inputs` and `outputs` list ports in order, separated by spaces: `src:T` is a tensor whose dtype is bound
 * to the letter T, and tensors with the same letter have the same dtype; `bias?:T` is optional; `...src:T` is
 * any number of tensors. The dtypes are the floats f32, bf16 and f16, or those listed after `=`:
 * `labels:I=i32|u32`. Without a letter, each tensor has a dtype of its own: `...src:=any`.
 */
export interface OperationSchema {
  readonly inputs: string;
  readonly outputs: string;
  readonly attributes: Readonly<Record<string, AttributeSchema>>;
}

type AttributeSchemas = OperationSchema['attributes'];

/** The values that an attribute may have. */
type ValueOf<S> = S extends { readonly among: readonly (infer V)[] }
  ? V
  : S extends { readonly type: infer T extends keyof AttributeTypes }
    ? AttributeTypes[T]
    : never;

type RequiredNames<A> = {
  [K in keyof A]: A[K] extends { readonly required: true } ? K : never;
}[keyof A];

type Settled = { readonly required: true } | { readonly default: unknown };

/** The attributes that a call gives: the required attributes, and any of the optional ones. */
export type GivenAttributes<A extends AttributeSchemas> = {
  readonly [K in RequiredNames<A>]: ValueOf<A[K]>;
} & { readonly [K in Exclude<keyof A, RequiredNames<A>>]?: ValueOf<A[K]> | undefined };

/** The attributes of a call with defaults filled in. */
export type ResolvedAttributes<A extends AttributeSchemas> = {
  readonly [K in keyof A]: A[K] extends Settled ? ValueOf<A[K]> : ValueOf<A[K]> | undefined;
};

type PortTensors<Port extends string> = Port extends `...${string}`
  ? readonly LogicalTensor[]
  : Port extends `${string}?:${string}`
    ? readonly [] | readonly [LogicalTensor]
    : readonly [LogicalTensor];

/** The tensors of a port list, as a tuple. */
export type TensorsOf<Ports extends string> = Ports extends ''
  ? readonly []
  : Ports extends `${infer First} ${infer Rest}`
    ? readonly [...PortTensors<First>, ...TensorsOf<Rest>]
    : PortTensors<Ports>;
