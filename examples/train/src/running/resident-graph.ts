import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { type Bindable, type Bindings, type Graph, storageDesc } from '@tilewise/graph';
import type { Constants } from '../model/graph-writer.ts';

/** A graph on an engine, with its constants and its results, which are the same tensors after every run. */
export interface ResidentGraph<T> {
  /** By tensor id. */
  readonly results: Readonly<Record<number, T>>;
  /**
   * @param bindings inputs by tensor id, and the results that do not live here; other tensors of the graph
   * are passed over.
   */
  run(bindings: Bindings<Bindable<T>>): Promise<void>;
  release(): void;
}

/**
 * Compiles a graph and brings its constants to the engine; nothing is allocated when it runs.
 * @param constants those that the graph does not read are passed over.
 * @param elsewhere ids of results that each run is given memory for.
 */
export function residentGraph<T extends TensorDesc>(
  engine: TensorEngine<T>,
  graph: Graph,
  constants: Constants = new Map(),
  elsewhere: readonly number[] = [],
): ResidentGraph<T> {
  const compiled = graph.compile(engine);
  const fixed: Record<number, T | number> = {};
  for (const { id } of compiled.inputs) {
    const value = constants.get(id);
    if (value !== undefined) fixed[id] = value instanceof Tensor ? engine.upload(value) : value;
  }
  const results: Record<number, T> = {};
  for (const t of compiled.outputs) {
    if (!elsewhere.includes(t.id)) results[t.id] = engine.primitives.allocate(storageDesc(t));
  }
  return {
    results,
    async run(bindings) {
      await compiled.execute({ ...bindings, ...fixed, ...results });
    },
    release() {
      compiled.release();
      const own = Object.values(fixed).filter(value => typeof value !== 'number');
      for (const tensor of [...own, ...Object.values(results)]) engine.release(tensor as T);
    },
  };
}
