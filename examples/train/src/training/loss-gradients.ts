import { type GradientGraph, gradients, type LogicalTensor } from '@tilewise/graph';
import { GraphWriter } from '../model/graph-writer.ts';
import { type Loss, writeLoss } from '../model/loss.ts';
import type { ModelShape } from '../model/model-shape.ts';
import { type Pass, writeTransformer } from '../model/transformer.ts';

/** The loss of a model over a batch and its gradients, as two graphs that run one after the other. */
export interface LossGradients {
  readonly forward: GraphWriter;
  readonly pass: Pass;
  readonly loss: Loss;
  /** The gradients of the loss by all parameters, from what forward gives. */
  readonly backward: GradientGraph;
  /** The gradient of the loss by itself, an input of `backward`. */
  readonly seed: LogicalTensor;
}

/** Writes both graphs. */
export function writeLossGradients(
  shape: ModelShape,
  { batch, dropout }: { readonly batch: number; readonly dropout: number },
): LossGradients {
  const forward = new GraphWriter();
  const pass = writeTransformer(forward, shape, { batch, dropout, keep: true });
  const loss = writeLoss(forward, pass.logits, batch * shape.context);
  forward.graph.finalize();
  const backward = gradients(forward.graph, { of: loss.loss, withRespectTo: [...pass.parameters.values()] });
  const seed = backward.seeds.get(loss.loss.id);
  if (!seed) throw new Error('a gradient graph has a seed for what it is the gradient of');
  return { forward, pass, loss, backward: backward.finalize(), seed };
}
