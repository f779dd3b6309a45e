import {
  checkFunction,
  checkObject,
  describeValue,
  InvalidArgumentError,
  type Tensor,
  type TensorDesc,
} from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import { Graph } from '../../graph.ts';
import { checkNames } from '../../ir/check-names.ts';
import { type GraphNode, neededNodes } from '../../ir/node.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { storageDesc } from '../../ir/tensor/storage.ts';
import type { Bindable } from '../../runtime/bindings/bindable.ts';
import { tracing } from './operation-call.ts';
import { Trace, Variable } from './trace.ts';

/** The shape of an argument, or its shape and dtype; f32 unless said otherwise. */
export type Spec =
  | readonly number[]
  | { readonly shape: readonly number[]; readonly dtype?: GraphDType | undefined };

/** The arguments of a function by name. */
export type Specs = Readonly<Record<string, Spec>>;

/** A function of named variables. */
export type Traceable<S extends Specs, R> = (inputs: { readonly [K in keyof S]: Variable }) => R;

/** The results of a traced function, with `T` in the place of variables. */
export type Results<R, T> = R extends Variable ? T : { readonly [K in keyof R]: Results<R[K], T> };

/** A function that is ready to run on an engine. */
export interface CompiledFunction<S extends Specs, R, T extends TensorDesc> {
  /**
   * Runs it, after what was asked for before.
   * @param inputs tensors of the engine, host tensors, or numbers for scalars.
   * @param outputs memory of one's own for results, in the order in which `results` lists them; others are
   * allocated. A result may lie where an input lies that it alone replaces, element by element, as a
   * parameter is updated; other results in the memory of inputs are refused. A result that is given a host
   * tensor is read back, on a device in the submission that computes the result.
   */
  (
    inputs: { readonly [K in keyof S]: Bindable<T> },
    outputs?: readonly (T | undefined)[],
  ): Promise<Results<R, T>>;
  (
    inputs: { readonly [K in keyof S]: Bindable<T> },
    outputs: readonly (T | Tensor | undefined)[],
  ): Promise<Results<R, T | Tensor>>;
  /** The results of the function: dtypes, shapes and strides, in one list. */
  readonly results: readonly TensorDesc[];
  /** Memory that it holds for intermediate results, in bytes. */
  readonly workspaceBytes: number;
  /** The graph that runs. */
  readonly graph: Graph;
  /** Frees what it holds on the engine. Afterwards it cannot be called. */
  release(): void;
}

/**
 * Traces a function of named tensors and compiles its graph for an engine. The function is called once, with
 * variables; what it gives (a variable, or arrays and objects of variables) is what the compiled function
 * gives, with the engine's tensors in their places.
 * @param options.trace is told which partition runs: see `createTrace` of `@tilewise/webgpu/trace`.
 * @throws what the operations throw, from the line of the function that is wrong; UnsupportedError for what
 * the engine cannot run.
 */
export function compile<T extends TensorDesc, S extends Specs, R>(
  engine: TensorEngine<T>,
  fn: Traceable<S, R>,
  specs: S,
  options: { readonly trace?: WorkTrace | undefined } = {},
): CompiledFunction<S, R, T> {
  checkNames('options', options, ['trace']);
  const { given, traced } = tracedGraph(fn, specs, engine?.recording !== undefined);
  const { graph, inputs, constants, results } = traced;
  const names = Object.keys(specs);
  const compiled = graph.compile(engine, options);
  const fixed = [...constants].map(([id, value]) => [id, engine.upload(value)] as const);
  const described = new Map(compiled.outputs.map(t => [t.id, storageDesc(t)]));

  const run = async (
    bound: { readonly [name: string]: Bindable<T> },
    outputs: readonly (T | Tensor | undefined)[] = [],
  ): Promise<Results<R, T>> => {
    checkObject('inputs', bound);
    const strange = Object.keys(bound).find(name => !names.includes(name));
    if (strange !== undefined)
      throw new InvalidArgumentError('inputs', `has '${strange}', which is none of ${names.join(', ')}`);
    const bindings: Record<number, Bindable<T>> = Object.fromEntries(fixed);
    for (const name of names) {
      if (bound[name] === undefined) throw new InvalidArgumentError('inputs', `lacks '${name}'`);
      if (Object.hasOwn(inputs, name)) bindings[inputs[name].id] = bound[name];
    }
    results.forEach(({ id }, n) => {
      const output = outputs[n];
      if (output !== undefined) bindings[id] = output;
    });
    const byId = await compiled.execute(bindings);
    let next = 0;
    return replaced(given, () => {
      const n = next++;
      return byId[results[n].id] ?? outputs[n];
    }) as Results<R, T>;
  };
  return Object.assign(run, {
    graph,
    results: results.map(tensor => described.get(tensor.id) ?? storageDesc(tensor)),
    workspaceBytes: compiled.workspaceBytes,
    release() {
      compiled.release();
      for (const [, tensor] of fixed) engine.release(tensor);
    },
  });
}

/** A function as a graph, for what is no engine, such as an export. */
export interface TracedGraph {
  readonly graph: Graph;
  /** The tensors of the arguments that are read, by name. */
  readonly inputs: Readonly<Record<string, LogicalTensor>>;
  /** The tensors that do not change from run to run, by tensor id. */
  readonly constants: ReadonlyMap<number, Tensor>;
  /** The tensors of the results, in the order of the function's variables. */
  readonly results: readonly LogicalTensor[];
}

/** Traces a function of named tensors, as `compile` does. */
export function traceGraph<S extends Specs, R>(fn: Traceable<S, R>, specs: S): TracedGraph {
  return tracedGraph(fn, specs, false).traced;
}

/**
 * Traces a function, whose result it gives too.
 * @param writesScalars whether finite scalars are constants of the graph.
 */
function tracedGraph<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
  writesScalars: boolean,
): { readonly given: R; readonly traced: TracedGraph } {
  const { trace, inputs, given } = traced(fn, specs);
  const results = ownResults(trace, variablesOf(given)).map(({ tensor }) => tensor);
  const graph = graphOf(trace, results, writesScalars ? finiteScalars(trace) : new Map());
  const read = new Set(graph.inputs.map(({ id }) => id));
  const own = Object.entries(inputs).flatMap(([name, { tensor }]) =>
    read.has(tensor.id) ? [[name, tensor] as const] : [],
  );
  const constants = new Map([...trace.constants].filter(([id]) => read.has(id)));
  return { given, traced: { graph, inputs: Object.fromEntries(own), constants, results } };
}

/** The shapes and dtypes of what a function would give, without an engine. */
export function evalShape<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
): Results<R, { readonly shape: readonly number[]; readonly dtype: GraphDType }> {
  const { given } = traced(fn, specs);
  return replaced(given, ({ shape, dtype }) => ({ shape, dtype })) as ReturnType<typeof evalShape<S, R>>;
}

/** Calls a function with variables for its arguments. */
function traced<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
): { readonly trace: Trace; readonly inputs: Readonly<Record<string, Variable>>; readonly given: R } {
  checkFunction('fn', fn);
  checkObject('specs', specs);
  const trace = new Trace();
  const inputs = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => {
      const { shape, dtype = 'f32' } = isList(spec) ? { shape: spec } : spec;
      return [name, trace.input(shape, dtype, name)];
    }),
  );
  return { trace, inputs, given: tracing(trace, () => fn(inputs as { readonly [K in keyof S]: Variable })) };
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

/** Replaces the variables in a structure. */
function replaced(value: unknown, make: (variable: Variable) => unknown): unknown {
  if (value instanceof Variable) return make(value);
  if (Array.isArray(value)) return value.map(entry => replaced(entry, make));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, replaced(entry, make)]));
  throw new InvalidArgumentError(
    'fn',
    `must give variables, or arrays and objects of them, got ${describeValue(value)}`,
  );
}

/** Results that no other tensor is: an input is copied, and so is a variable that is given twice. */
function ownResults(trace: Trace, variables: readonly Variable[]): Variable[] {
  const taken = new Set<number>();
  return variables.map(variable => {
    const { id } = variable.tensor;
    const isInput = !trace.graph.nodes.some(node => node.outputs.some(t => t.id === id));
    const own = isInput || taken.has(id) ? trace.apply('Reorder', [variable], {})[0] : variable;
    taken.add(own.tensor.id);
    return own;
  });
}

/**
 * Numbers that kernels can have in their text: an engine of a device would bind a buffer for each. Attention
 * takes its numbers from inputs.
 */
function finiteScalars({ constants, graph }: Trace): Map<number, number> {
  const ofAttention = new Set(
    graph.nodes.flatMap(({ kind, inputs }) => (kind.startsWith('Sdpa') ? inputs.map(({ id }) => id) : [])),
  );
  const scalars = [...constants].filter(([, { shape, dtype }]) => shape.length === 0 && dtype === 'f32');
  return new Map(
    scalars
      .map(([id, value]) => [id, value.toFloat64()[0]] as const)
      .filter(([id, x]) => Number.isFinite(x) && !ofAttention.has(id)),
  );
}

/**
 * The operations that the results need, as a graph that gives these alone.
 * @param written inputs that are constants of the graph, by their ids.
 */
function graphOf(
  trace: Trace,
  results: readonly LogicalTensor[],
  written: ReadonlyMap<number, number>,
): Graph {
  const wanted = new Set(results.map(({ id }) => id));
  const nodes = neededNodes(trace.graph.nodes, wanted);
  const read = new Set(nodes.flatMap(node => node.inputs.map(({ id }) => id)));
  const graph = new Graph();
  const inputs = new Map(nodes.flatMap(node => node.inputs.map(tensor => [tensor.id, tensor] as const)));
  for (const [id, value] of written) {
    const tensor = inputs.get(id);
    if (tensor) graph.op('Constant', { attrs: { value: [value] }, inputs: [], outputs: [tensor] });
  }
  for (const node of nodes) graph.add(withoutUnused(node, id => wanted.has(id) || read.has(id)));
  for (const tensor of results) {
    if (read.has(tensor.id)) graph.op('End', { inputs: [tensor], outputs: [] });
  }
  return graph.finalize();
}

/** An operation to be added again; attention without those of its results that nothing needs. */
function withoutUnused(
  { kind, given, inputs, outputs }: GraphNode,
  isUsed: (id: number) => boolean,
): Parameters<Graph['add']>[0] {
  if (kind !== 'Sdpa') return { kind, attrs: given, inputs, outputs };
  const used = outputs.map(({ id }) => isUsed(id));
  const results = String(given.results)
    .split(' ')
    .filter((_, n) => used[n]);
  return {
    kind,
    attrs: { ...given, results: results.join(' ') },
    inputs,
    outputs: outputs.filter((_, n) => used[n]),
  };
}
