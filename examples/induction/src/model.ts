import type { Engine, TensorDesc } from '@tilewise/core';
import {
  type AttentionLayer,
  createLayer,
  type LayerTrace,
  layerBackward,
  layerForward,
  releaseTrace,
} from './attention-layer.ts';
import { type AttentionDropout, attentionOptions, type PassShape } from './attention-options.ts';
import { crossEntropy, type Score } from './cross-entropy.ts';
import { type LayerShape, widthOf } from './heads.ts';
import { linear, linearBackward } from './linear.ts';
import { normalParameter, type Parameter } from './parameters.ts';
import { rmsNorm, rmsNormBackward } from './rms-norm.ts';
import { addRows, gatherRows } from './rows.ts';
import { type Batch, VOCABULARY } from './task.ts';

/**
 * A transformer of two attention layers and nothing between them. Two is the least that can do this task: the first layer lets
 * each value know the key before it, the second finds the value whose key is asked for (Olsson et al. 2022, "In-context
 * Learning and Induction Heads").
 */
export interface Model {
  readonly shape: LayerShape;
  /** (VOCABULARY, width) */
  readonly embedding: Parameter;
  readonly layers: readonly AttentionLayer[];
  /** (width, VOCABULARY) */
  readonly unembedding: Parameter;
}

/** One forward pass and what backward needs of it. */
export interface Pass<T> {
  readonly score: Score;
  readonly traces: readonly LayerTrace<T>[];
  /** What the last layer gives at the questions, and the same normed: (questions, width). */
  readonly asked: Float32Array;
  readonly normed: Float32Array;
}

/** The least shape that learns the task with every seed that was tried. */
export const defaultShape: LayerShape = { heads: 2, headSize: 16 };

export function createModel(seed: number, shape: LayerShape = defaultShape): Model {
  const width = widthOf(shape);
  return {
    shape,
    embedding: normalParameter('embedding', [VOCABULARY, width], 1, seed),
    layers: [createLayer('layer 0', shape, seed), createLayer('layer 1', shape, seed)],
    unembedding: normalParameter('unembedding', [width, VOCABULARY], width ** -0.5, seed),
  };
}

/** Everything that is trained. */
export function parametersOf({ embedding, layers, unembedding }: Model): Parameter[] {
  return [embedding, ...layers.flatMap(({ qkv, out }) => [qkv, out]), unembedding];
}

/** What a pass over a batch attends over. */
export function passShape({ layers, shape }: Model, { count, length }: Batch): PassShape {
  return { layers: layers.length, shape, B: count, S: length };
}

/** Runs the model over a batch and scores its answers. */
export async function forward<T extends TensorDesc>(
  engine: Engine<T>,
  model: Model,
  batch: Batch,
  dropout?: AttentionDropout,
): Promise<Pass<T>> {
  const width = widthOf(model.shape);
  const traces: LayerTrace<T>[] = [];
  let x = gatherRows(model.embedding.value, batch.tokens, width);
  for (const [n, layer] of model.layers.entries()) {
    const options = attentionOptions<T>(n, passShape(model, batch), dropout);
    const { y, trace } = await layerForward(engine, layer, x, batch.length, options);
    traces.push(trace);
    x = y;
  }
  const asked = gatherRows(x, batch.questions, width);
  const normed = rmsNorm(asked, width);
  const score = crossEntropy(linear(normed, model.unembedding), batch.answers);
  return { score, traces, asked, normed };
}

/** Adds the gradients of the loss of a pass to those of the parameters. Uses the pass up. */
export async function backward<T extends TensorDesc>(
  engine: Engine<T>,
  model: Model,
  batch: Batch,
  { score, traces, asked, normed }: Pass<T>,
  dropout?: AttentionDropout,
): Promise<void> {
  const width = widthOf(model.shape);
  const dNormed = linearBackward(normed, model.unembedding, score.dLogits);
  let dx: Float32Array = new Float32Array(batch.tokens.length * width);
  addRows(dx, batch.questions, width, rmsNormBackward(asked, normed, dNormed, width));
  for (const [n, layer] of [...model.layers.entries()].reverse()) {
    const options = attentionOptions<T>(n, passShape(model, batch), dropout);
    dx = await layerBackward(engine, layer, traces[n], dx, batch.length, options);
  }
  addRows(model.embedding.gradient, batch.tokens, width, dx);
}

/** Frees a pass that no backward pass will use. */
export function releasePass<T extends TensorDesc>(engine: Engine<T>, { traces }: Pass<T>): void {
  for (const trace of traces) releaseTrace(engine, trace);
}
