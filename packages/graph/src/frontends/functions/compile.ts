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
import { Uploads } from '../../runtime/bindings/uploads.ts';
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

/** A function that is ready to run on an engine. */
export interface CompiledFunction<S extends Specs, R, T extends TensorDesc> {
  /**
   * Runs the function, after earlier calls.
   * @param inputs the arguments by name: tensors of the engine, host tensors, or numbers for scalars. Do not
   * change or release them until the promise has settled.
   * @param outputs the caller's tensors for results, in the order of `results`; the other results are
   * allocated. A result may use the memory of an input that it updates element by element, such as a
   * parameter; any other overlap of results and inputs is refused. A host tensor receives its result by a
   * read-back, which a device does in the submission that computes the result.
   */
  (
    inputs: { readonly [K in keyof S]: Bindable<T> },
    outputs?: readonly (T | undefined)[],
  ): Promise<Results<R, T>>;
  (
    inputs: { readonly [K in keyof S]: Bindable<T> },
    outputs: readonly (T | Tensor | undefined)[],
  ): Promise<Results<R, T | Tensor>>;
  /** The dtypes, shapes and strides of the function's results, in one list. */
  readonly results: readonly TensorDesc[];
  /** The memory that the function holds for intermediate results, in bytes. */
  readonly workspaceBytes: number;
  /** The graph that the function runs. */
  readonly graph: Graph;
  /**
   * Frees the function's resources on the engine after pending calls. The function cannot be called
   * afterwards.
   */
  release(): void;
}

/**
 * Traces a function of named tensors and compiles its graph for an engine. `fn` is called once, with
 * variables, and returns a variable, or arrays and objects of variables. The compiled function returns the
 * same structure, with the engine's tensors in place of the variables.
 * @param options.trace receives the name of each partition that runs, and of its steps on an engine of the
 * host: see `createTrace` of `@tilewise/webgpu/trace`.
 * @throws the errors of the operations, from the line of `fn` that is wrong; UnsupportedError if the engine
 * cannot run an operation.
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
  const names = new Set(Object.keys(specs));
  const compiled = graph.compile(engine, options);
  const uploads = new Uploads(engine);
  const fixed = [...constants].map(([id, value]) => [id, uploads.of(value)] as const);
  const shaped = new Map(compiled.outputs.map(t => [t.id, t]));
  /** The number of calls that have not ended. They read the constants, even after `release`. */
  let calls = 0;
  let isReleased = false;
  const freeConstants = (): void => {
    if (isReleased && calls === 0) uploads.release();
  };

  const run = async (
    bound: { readonly [name: string]: Bindable<T> },
    outputs: readonly (T | Tensor | undefined)[] = [],
  ): Promise<Results<R, T>> => {
    checkObject('inputs', bound);
    if (!(outputs?.length <= results.length))
      throw new InvalidArgumentError(
        'outputs',
        `must be an array of up to ${results.length} tensors, got ${describeValue(outputs)}`,
      );
    const strange = Object.keys(bound).find(name => !names.has(name));
    if (strange !== undefined)
      throw new InvalidArgumentError('inputs', `has '${strange}', which is none of ${[...names].join(', ')}`);
    const bindings: Record<number, Bindable<T>> = Object.fromEntries(fixed);
    for (const name of names) {
      if (bound[name] === undefined) throw new InvalidArgumentError('inputs', `lacks '${name}'`);
      if (Object.hasOwn(inputs, name)) bindings[inputs[name].id] = bound[name];
    }
    results.forEach(({ id }, n) => {
      const output = outputs[n];
      if (output !== undefined) bindings[id] = output;
    });
    calls++;
    const byId = await compiled.execute(bindings).finally(() => {
      calls--;
      freeConstants();
    });
    let next = 0;
    return replaced(given, () => {
      const n = next++;
      return byId[results[n].id] ?? outputs[n];
    }) as Results<R, T>;
  };
  return Object.assign(run, {
    graph,
    results: results.map(tensor => storageDesc(shaped.get(tensor.id) ?? tensor)),
    workspaceBytes: compiled.workspaceBytes,
    release() {
      compiled.release();
      isReleased = true;
      freeConstants();
    },
  });
}

/** A function as a graph, for uses other than an engine, such as an export. */
export interface TracedGraph {
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
  return tracedGraph(fn, specs, false).traced;
}

/**
 * Traces a function, and returns its result too.
 * @param writesScalars whether finite scalars become constants of the graph.
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

/** The shapes and dtypes of a function's results, without an engine. */
export function evalShape<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
): Results<R, { readonly shape: readonly number[]; readonly dtype: GraphDType }> {
  const { given } = traced(fn, specs);
  return replaced(given, ({ shape, dtype }) => ({ shape, dtype })) as ReturnType<typeof evalShape<S, R>>;
}

/** Calls a function with variables as its arguments. */
function traced<S extends Specs, R>(
  fn: Traceable<S, R>,
  specs: S,
): { readonly trace: Trace; readonly inputs: Readonly<Record<string, Variable>>; readonly given: R } {
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

/** Replaces the variables in a structure of arrays and objects. */
function replaced(value: unknown, make: (variable: Variable) => unknown): unknown {
  if (value instanceof Variable) return make(value);
  if (Array.isArray(value)) return value.map(entry => replaced(entry, make));
  if (Object.prototype.toString.call(value) === '[object Object]')
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
  for (const tensor of results) {
    if (inputs.has(tensor.id)) graph.op('End', { inputs: [tensor], outputs: [] });
  }
  return graph.finalize();
}

/** A copy of an operation; attention without its unused results. */
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
