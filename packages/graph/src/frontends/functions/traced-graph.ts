import {
  checkFunction,
  checkObject,
  describeValue,
  InvalidArgumentError,
  InvalidShapeError,
  Tensor,
} from '@tilewise/core';
import { Graph } from '../../graph.ts';
import { type GraphNode, neededNodes } from '../../ir/node.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { tracing } from './operation-call.ts';
import { reshape } from './shaping.ts';
import { checkVariable, Trace, Variable } from './trace.ts';

/** The shape of an argument, or its shape and dtype. Default dtype: f32. */
export type Spec =
  | readonly number[]
  | { readonly shape: readonly number[]; readonly dtype?: GraphDType | undefined };

/** The shapes and dtypes of a function's arguments, by name. */
export type Specs = Readonly<Record<string, Spec>>;

/** A function of named variables. */
export type Traceable<S extends Specs, R> = (inputs: { readonly [K in keyof S]: Variable }) => R;

/** The results of a traced function, with `T` in place of variables. */
export type Results<R, T> = R extends Variable ? T : { readonly [K in keyof R]: Results<R[K], T> };

/** A function as a graph, for uses other than an engine, such as an export. */
export interface TracedGraph {
  /** The finalized graph. */
  readonly graph: Graph;
  /** The tensors of the arguments that the function reads, by name. */
  readonly inputs: Readonly<Record<string, LogicalTensor>>;
  /** The tensors that are the same in every run, by tensor id. */
  readonly constants: ReadonlyMap<number, Tensor>;
  /** The tensors of the results, in the order of the function's variables. */
  readonly results: readonly LogicalTensor[];
}

/** Traces a function of named tensors, like `compile`. */
export function traceGraph<S extends Specs, R>(fn: Traceable<S, R>, specs: S): TracedGraph {
  return traceWithResult(fn, specs, false).traced;
}

/**
 * Traces a function. `result` is what the function returned: variables in arrays and objects.
 * @param writesScalars whether finite scalars become constants of the graph.
 */
export function traceWithResult<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
  writesScalars: boolean,
): { readonly result: R; readonly traced: TracedGraph } {
  const { trace, inputs, result } = callWithVariables(fn, specs);
  const results = ownResults(trace, variablesOf(result)).map(({ tensor, shape }) => ({ ...tensor, shape }));
  const graph = graphOf(trace, results, writesScalars ? finiteScalars(trace) : new Map());
  const read = new Set(graph.inputs.map(({ id }) => id));
  const own = Object.entries(inputs).flatMap(([name, { tensor }]) =>
    read.has(tensor.id) ? [[name, tensor] as const] : [],
  );
  // Inputs of the graph are contiguous.
  const constants = new Map(
    [...trace.constants].flatMap(([id, value]) =>
      read.has(id) ? [[id, value.isContiguous ? value : value.contiguous()]] : [],
    ),
  );
  return { result, traced: { graph, inputs: Object.fromEntries(own), constants, results } };
}

/** The shapes and dtypes of a function's results, without an engine. */
export function evalShape<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
): Results<R, { readonly shape: readonly number[]; readonly dtype: GraphDType }> {
  const { result } = callWithVariables(fn, specs);
  return replaced(result, ({ shape, dtype }) => ({ shape, dtype })) as ReturnType<typeof evalShape<S, R>>;
}

/** Calls a function with variables as its arguments. */
function callWithVariables<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
): { readonly trace: Trace; readonly inputs: Readonly<Record<string, Variable>>; readonly result: R } {
  checkFunction('fn', fn);
  checkObject('specs', specs);
  const trace = new Trace();
  const inputs = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => {
      const { shape, dtype = 'f32' } = isList(spec) ? { shape: spec } : (spec ?? {});
      if (!Array.isArray(shape))
        throw new InvalidArgumentError(
          `specs.${name}`,
          `must be or have a shape, got ${describeValue(spec)}`,
        );
      if (!isKnown(shape))
        throw new InvalidShapeError(`specs.${name}`, `must have known extents, got [${shape}]`);
      return [name, trace.input(shape, dtype, name)];
    }),
  );
  return { trace, inputs, result: tracing(trace, () => fn(inputs as { readonly [K in keyof S]: Variable })) };
}

function isList(spec: Spec): spec is readonly number[] {
  return Array.isArray(spec);
}

/** The variables of a result, in the order of its fields. */
function variablesOf(value: unknown): Variable[] {
  const found: Variable[] = [];
  replaced(value, variable => found.push(variable));
  return found;
}

/** Replaces the variables in a structure of arrays and objects. */
export function replaced(value: unknown, make: (variable: Variable) => unknown): unknown {
  if (value instanceof Variable) return make(value);
  if (Array.isArray(value)) return value.map(entry => replaced(entry, make));
  if (Object.prototype.toString.call(value) === '[object Object]' && !(value instanceof Tensor))
    return Object.fromEntries(
      Object.entries(value as object).map(([name, entry]) => [name, replaced(entry, make)]),
    );
  throw new InvalidArgumentError(
    'fn',
    `must return variables, or arrays and objects of them, got ${describeValue(value)}`,
  );
}

/**
 * Makes each result a separate tensor: copies an input that is returned, and a variable that is returned
 * twice.
 */
function ownResults(trace: Trace, variables: readonly Variable[]): Variable[] {
  const produced = new Set(trace.graph.nodes.flatMap(node => node.outputs.map(t => t.id)));
  const taken = new Set<number>();
  return variables.map(variable => {
    checkVariable('a result of fn', variable, trace);
    const { id } = variable.tensor;
    const isOwn = produced.has(id) && !taken.has(id);
    const own = isOwn ? variable : reshape(variable, variable.shape);
    taken.add(own.tensor.id);
    return own;
  });
}

/**
 * The numbers that kernels can contain as literals, because a device's engine would have to bind a buffer for
 * each. Numbers that attention reads are excluded, because attention takes them from inputs.
 */
function finiteScalars({ constants, graph }: Trace): Map<number, number> {
  const found = new Map<number, number>();
  for (const [id, value] of constants) {
    if (value.shape.length > 0 || value.dtype !== 'f32') continue;
    const [x] = value.toFloat64();
    if (Number.isFinite(x)) found.set(id, x);
  }
  for (const { kind, inputs } of graph.nodes)
    if (kind.startsWith('Sdpa')) for (const { id } of inputs) found.delete(id);
  return found;
}

/**
 * The operations that the results need, as a graph that has only these results.
 * @param written the inputs that become constants of the graph, by tensor id.
 */
function graphOf(
  trace: Trace,
  results: readonly LogicalTensor[],
  written: ReadonlyMap<number, number>,
): Graph {
  const wanted = new Set(results.map(({ id }) => id));
  const nodes = neededNodes(trace.graph.nodes, wanted);
  const graph = new Graph();
  const inputs = new Map(nodes.flatMap(node => node.inputs.map(tensor => [tensor.id, tensor] as const)));
  for (const [id, value] of written) {
    const tensor = inputs.get(id);
    if (tensor) graph.op('Constant', { attrs: { value: [value] }, inputs: [], outputs: [tensor] });
  }
  for (const node of nodes) graph.add(withoutUnused(node, id => wanted.has(id) || inputs.has(id)));
  for (const { id } of results) {
    const read = inputs.get(id);
    if (read) graph.op('End', { inputs: [read], outputs: [] });
  }
  return graph.finalize();
}

/** A copy of an operation; attention and softmax without their unused results. */
function withoutUnused(
  { kind, given, inputs, outputs }: GraphNode,
  isUsed: (id: number) => boolean,
): Parameters<Graph['add']>[0] {
  const { results } = given;
  if (!results && kind !== 'SoftMax') return { kind, attrs: given, inputs, outputs };
  const isRead = (_: unknown, n: number): boolean => isUsed(outputs[n].id);
  return {
    kind,
    attrs: results ? { ...given, results: `${results}`.split(' ').filter(isRead).join(' ') } : given,
    inputs,
    outputs: outputs.filter(isRead),
  };
}
