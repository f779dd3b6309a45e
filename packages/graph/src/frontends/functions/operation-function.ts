import { Tensor } from '@tilewise/core';
import type { Operation } from '../../ir/schema/operation.ts';
import type { GivenAttributes } from '../../ir/schema/schema.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import { type OperationKind, type OperationSchemas, operationOf } from '../../ops/table.ts';
import { type CallOptions, call } from './operation-call.ts';
import { holdsVariables, type Operand, Variable } from './trace.ts';

/** An attribute's name, such as `transpose_b`, in camelCase. */
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/**
 * The attributes of an operation, by camelCase names, without `keep_stats`: a function gives only the results
 * that its operation always has.
 */
export type OptionsOf<K extends OperationKind> = {
  [Name in keyof GivenAttributes<OperationSchemas[K]['attributes']> as CamelCase<
    Exclude<Name & string, 'keep_stats'>
  >]: GivenAttributes<OperationSchemas[K]['attributes']>[Name];
} & {
  /** The dtype of the (first) result. Default: that of the operands. */
  readonly dtype?: GraphDType | undefined;
  /** Excludes variables, which have a `dtype` too, from the options. */
  readonly trace?: never;
};

/** The operands of a port list; optional operands are last. */
type OperandsOf<Ports extends string> = Ports extends ''
  ? []
  : Ports extends `${infer First} ${infer Rest}`
    ? First extends `${string}?:${string}`
      ? [] | [Operand, ...OperandsOf<Rest>]
      : [Operand, ...OperandsOf<Rest>]
    : Ports extends `${string}?:${string}`
      ? [] | [Operand]
      : [Operand];

/** The results that an operation always has: one variable, or several. */
type ResultsOf<Ports extends string> = Ports extends `${infer First} ${infer Rest}`
  ? Rest extends `${string}?:${string}`
    ? Variable
    : First extends string
      ? readonly Variable[]
      : never
  : Variable;

/** The options after the operands; optional if no attribute is required. */
type OptionsArgument<O> = Partial<O> extends O ? [options?: O] : [options: O];

/** An operation as a function of its operands and options, with types from the operation table. */
export type OperationFunction<K extends OperationKind> = (
  ...args: [...OperandsOf<OperationSchemas[K]['inputs']>, ...OptionsArgument<OptionsOf<K>>]
) => ResultsOf<OperationSchemas[K]['outputs']>;

/**
 * The function of an operation.
 * @param complete adds options that depend on the first operand.
 */
export function operation<K extends OperationKind>(
  kind: K,
  complete = (_: Operand, options?: CallOptions): CallOptions | undefined => options,
): OperationFunction<K> {
  const apply = (...args: readonly unknown[]): Variable | readonly Variable[] => {
    const options = args.find(isOptions);
    const operands = args.filter(arg => arg === undefined || arg !== options);
    // Optional operands and options may be undefined, but only after all others.
    const least = (operationOf(kind) as Operation).inputs.filter(
      port => !port.optional && !port.variadic,
    ).length;
    while (operands.length > least && operands.at(-1) === undefined) operands.pop();
    const results = call(kind, operands as Operand[], complete(operands[0] as Operand, options));
    return results.length === 1 ? results[0] : results;
  };
  return apply as unknown as OperationFunction<K>;
}

/** The function of a reduction. Without axes, it reduces all axes, as in PyTorch; oneDNN has no default. */
export function reduction<K extends OperationKind & `Reduce${string}`>(kind: K): OperationFunction<K> {
  const reduce = operation(kind, (x, options) => ({
    ...options,
    axes: options?.axes ?? Object.keys((x as Partial<Variable> | undefined)?.shape ?? []).map(Number),
  })) as unknown as (...args: readonly unknown[]) => Variable;
  const apply = (x: unknown, ...others: readonly unknown[]): Variable => {
    const hasAxes = others.some(other => other !== undefined && !(isOptions(other) && !other.axes));
    if (hasAxes || !(x instanceof Variable) || x.shape.length > 0) return reduce(x, ...others);
    // oneDNN does not reduce a scalar, because a scalar has no axes.
    const [element] = call('StaticReshape', [x], { shape: [1], specialZero: false });
    return reduce(element, { ...others.find(isOptions), axes: [0], keepDims: false });
  };
  return apply as unknown as OperationFunction<K>;
}

/**
 * Completes the options of softmax. Without an axis, it is along the last, as in JAX; in oneDNN, along axis
 * 1.
 */
export const alongLastAxis = (_: Operand, options?: CallOptions): CallOptions => ({
  ...options,
  axis: options?.axis ?? -1,
});

function isOptions(arg: unknown): arg is CallOptions {
  const isObject = typeof arg === 'object' && arg !== null;
  if (!isObject || arg instanceof Variable || arg instanceof Tensor || Symbol.iterator in arg) return false;
  return !holdsVariables(arg);
}
