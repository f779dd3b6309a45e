import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { type ResidentGraph, residentGraph } from '../running/resident-graph.ts';
import { type AdamW, type ParameterState, stepNumbers, writeAdamW } from './adamw.ts';
import { writeClip } from './clip.ts';

/** AdamW on an engine, for parameters of given shapes. */
export interface Optimizer<T> {
  /** Moves parameters by their gradients; `after` is written. */
  step(
    gradients: readonly T[],
    before: readonly ParameterState<T>[],
    after: readonly ParameterState<T>[],
    numbers: { readonly t: number; readonly learningRate: number },
  ): Promise<void>;
  release(): void;
}

export function createOptimizer<T extends TensorDesc>(
  engine: TensorEngine<T>,
  shapes: readonly (readonly number[])[],
  { weightDecay, maxNorm }: { readonly weightDecay: number; readonly maxNorm: number },
): Optimizer<T> {
  const clip = writeClip(shapes, maxNorm);
  const clipping = residentGraph(engine, clip.g.graph, clip.g.constants);
  // Parameters of the same shape share a graph.
  const byShape = new Map<string, { readonly adamw: AdamW; readonly running: ResidentGraph<T> }>();
  const updates = shapes.map(shape => {
    const known = byShape.get(`${shape}`);
    if (known) return known;
    const adamw = writeAdamW(shape);
    const written = Object.values(adamw.after).map(t => t.id);
    const made = { adamw, running: residentGraph(engine, adamw.g.graph, adamw.g.constants, written) };
    byShape.set(`${shape}`, made);
    return made;
  });

  return {
    async step(gradients, before, after, { t, learningRate }) {
      await clipping.run(Object.fromEntries(clip.gradients.map(({ id }, n) => [id, gradients[n]])));
      const factor = clipping.results[clip.factor.id];
      const scalars = stepNumbers(t, { learningRate, weightDecay }, x => engine.upload(Tensor.from([x], [])));
      for (const [n, { adamw, running }] of updates.entries()) {
        await running.run({
          [adamw.gradient.id]: gradients[n],
          ...bound(adamw.numbers, { ...scalars, clip: factor }),
          ...bound(adamw.before, before[n]),
          ...bound(adamw.after, after[n]),
        });
      }
      for (const tensor of Object.values(scalars)) engine.release(tensor);
    },
    release() {
      clipping.release();
      for (const { running } of byShape.values()) running.release();
    },
  };
}

/** Tensors by the ids of logical ones of the same names. */
function bound<K extends string, T>(
  logical: Readonly<Record<K, { readonly id: number }>>,
  tensors: Readonly<Record<K, T>>,
): Record<number, T> {
  const names = Object.keys(logical) as K[];
  return Object.fromEntries(names.map(name => [logical[name].id, tensors[name]]));
}
