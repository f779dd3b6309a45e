import {
  checkObject,
  describeValue,
  InvalidArgumentError,
  type Tensor,
  type TensorDesc,
} from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Graph } from '../../graph.ts';
import { checkNames } from '../../ir/check-names.ts';
import { storageDesc } from '../../ir/tensor/storage.ts';
import type { Bindable } from '../../runtime/bindings/bindable.ts';
import { Uploads } from '../../runtime/bindings/uploads.ts';
import { type Results, replaced, type Specs, type Traceable, traceWithResult } from './traced-graph.ts';

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
  const { result, traced } = traceWithResult(fn, specs, engine?.recording !== undefined);
  const { graph, inputs, constants, results } = traced;
  const names = Object.keys(specs);
  const compiled = graph.compile(engine, options);
  const uploads = new Uploads(engine);
  /** The number of calls that have not ended. They read the constants, even after `release`. */
  let calls = 0;
  let isReleased = false;
  const freeConstants = (): void => {
    if (isReleased && calls === 0) uploads.release();
  };
  const release = (): void => {
    compiled.release();
    isReleased = true;
    freeConstants();
  };
  const fixed: Record<number, Bindable<T>> = {};
  try {
    for (const [id, value] of constants) {
      // 64-bit numbers, such as seeds, stay on the host: attention would read them back in each call.
      const isWord = value.dtype === 'u32' && value.data.length === 2;
      fixed[id] = isWord ? value : uploads.of(value);
    }
  } catch (error) {
    release();
    throw error;
  }

  const run = async (
    bound: { readonly [name: string]: Bindable<T> },
    outputs: readonly (T | Tensor | undefined)[] = [],
  ): Promise<Results<R, T>> => {
    checkObject('inputs', bound);
    const isOther = describeValue(bound) !== 'Object' && !names.some(name => name in bound);
    if (isOther)
      throw new InvalidArgumentError(
        'inputs',
        `must be { ${names.join(', ')} }, got ${describeValue(bound)}`,
      );
    // Every input must be present, as checked below, so an unknown one makes the list longer.
    if (Object.keys(bound).length > names.length) checkNames('inputs', bound, names);
    if (!(outputs?.length <= results.length))
      throw new InvalidArgumentError(
        'outputs',
        `must be an array of up to ${results.length} tensors, got ${describeValue(outputs)}`,
      );
    const bindings: Record<number, Bindable<T>> = { ...fixed };
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
    return replaced(result, () => {
      const n = next++;
      return byId[results[n].id] ?? outputs[n];
    }) as Results<R, T>;
  };
  return Object.assign(run, {
    graph,
    results: results.map(storageDesc),
    workspaceBytes: compiled.workspaceBytes,
    release,
  });
}
