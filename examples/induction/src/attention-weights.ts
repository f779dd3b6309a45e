import { type Engine, Tensor, type TensorDesc } from '@tilewise/core';
import { projectHeads } from './attention-layer.ts';
import { attentionOptions } from './attention-options.ts';
import { forward, type Model, passShape, releasePass } from './model.ts';
import type { Batch } from './task.ts';

/** Attention weights of all heads of one layer: (sequences, heads, S, S), each row a distribution over keys. */
export type LayerWeights = Tensor;

/**
 * The attention weights of each layer over a batch. A flash kernel never stores them, but o = P·v is P itself when v is the
 * identity matrix.
 */
export async function attentionWeights<T extends TensorDesc>(
  engine: Engine<T>,
  model: Model,
  batch: Batch,
): Promise<LayerWeights[]> {
  const { count: B, length: S } = batch;
  const identity = Float32Array.from({ length: B * S * S }, (_, n) =>
    Math.floor(n / S) % S === n % S ? 1 : 0,
  );
  const pass = await forward(engine, model, batch);
  const weights: LayerWeights[] = [];
  for (const [n, layer] of model.layers.entries()) {
    const heads = projectHeads(layer, pass.traces[n].normed, S);
    const q = engine.upload(heads.q);
    const k = engine.upload(heads.k);
    const v = engine.upload(Tensor.from(identity, [B, 1, S, S]));
    const { o, lse } = await engine.sdpa(q, k, v, attentionOptions(n, passShape(model, batch), undefined));
    weights.push(await engine.download(o));
    for (const t of [q, k, v, o, lse]) engine.release(t);
  }
  releasePass(engine, pass);
  return weights;
}

/** A head, and how much of its attention lies where it was looked for, on average. */
export interface HeadMass {
  readonly layer: number;
  readonly head: number;
  readonly mass: number;
}

/** The head that, at the questions, looks most at where the answer stood. */
export function inductionHead(
  weights: readonly LayerWeights[],
  { questions, sources, length }: Batch,
): HeadMass {
  const pairs = [...questions].map((at, n) => ({ from: at, to: sources[n] }));
  return strongestHead(weights, length, pairs);
}

/** The head that, at the values, looks most at the key just before. */
export function previousTokenHead(weights: readonly LayerWeights[], { tokens, length }: Batch): HeadMass {
  const pairs = [...tokens.keys()].filter(at => at % 2 === 1).map(at => ({ from: at, to: at - 1 }));
  return strongestHead(weights, length, pairs);
}

function strongestHead(
  weights: readonly LayerWeights[],
  S: number,
  pairs: readonly { readonly from: number; readonly to: number }[],
): HeadMass {
  const masses = weights.flatMap((layerWeights, layer) =>
    Array.from({ length: layerWeights.shape[1] }, (_, head): HeadMass => {
      const total = pairs.reduce(
        (sum, { from, to }) => sum + layerWeights.get(Math.floor(from / S), head, from % S, to % S),
        0,
      );
      return { layer, head, mass: total / pairs.length };
    }),
  );
  return masses.reduce((a, b) => (b.mass > a.mass ? b : a));
}
