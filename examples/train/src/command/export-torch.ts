import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { toTorch } from '@tilewise/graph/torch';
import { splitU64 } from '@tilewise/philox';
import type { Dataset } from '../data/dataset.ts';
import { GraphWriter } from '../model/graph-writer.ts';
import { writeLoss } from '../model/loss.ts';
import { writeTransformer } from '../model/transformer.ts';
import { BETA1, BETA2, EPSILON } from '../optimizer/adamw.ts';
import { dropoutSeed, randomStream } from '../random-streams.ts';
import type { Snapshot } from '../training/trainer.ts';

/** Batches that an export has: training in PyTorch goes through them again where it is longer. */
const STEPS = 200;

/**
 * A run as a package of PyTorch that goes on with it: the loss as a graph, the weights and what AdamW knows
 * of them, and the batches and dropout seeds of the next steps.
 */
export function exportRun(
  { config, characters, seed, step, tensors }: Snapshot,
  data: Dataset,
  steps: number = STEPS,
): Record<string, string | Uint8Array> {
  const { layers, heads, dim, context, batch } = config;
  const rows = batch * context;
  const g = new GraphWriter();
  const shape = { vocabulary: characters.length, layers, heads, dim, context };
  const pass = writeTransformer(g, shape, { batch, dropout: config.dropout, keep: false });
  const { labels, weights, loss } = writeLoss(g, pass.logits, rows);
  const cut = [['batch', 'sequence']] as const;
  const drawn = Array.from({ length: steps }, (_, n) =>
    data.draw(randomStream(seed, 'training', step + n), batch, context, 'training'),
  );
  const list = (of: 'tokens' | 'labels' | 'weights', dtype: 'i32' | 'f32'): Tensor =>
    Tensor.from(
      drawn.flatMap(own => [...own[of]]),
      [steps, rows],
      { dtype },
    );
  const words = (of: (n: number) => bigint): Tensor =>
    Tensor.from(
      drawn.flatMap((_, n) => [...splitU64(of(step + n))]),
      [steps, 2],
      { dtype: 'u32' },
    );
  const { dropout } = pass;
  const offsets = (dropout?.offsets ?? []).map(
    ({ id }, place, { length }) => [id, words(n => BigInt(n) * BigInt(length) + BigInt(place))] as const,
  );
  const last = config.steps ?? 0;
  return toTorch(g.graph, {
    name: 'recall',
    parameters: Object.fromEntries([...pass.parameters].map(([name, { id }]) => [name, id])),
    constants: g.constants,
    weights: tensors,
    metadata: { step: `${step}` },
    shard: { [pass.tokens.id]: cut, [labels.id]: cut, [weights.id]: cut },
    extents: { batch, sequence: context },
    loss: loss.id,
    batches: new Map([
      [pass.tokens.id, list('tokens', 'i32')],
      [labels.id, list('labels', 'i32')],
      [weights.id, list('weights', 'f32')],
      ...(dropout ? [[dropout.seed.id, words(() => dropoutSeed(seed))] as const] : []),
      ...offsets,
    ]),
    training: {
      ...{
        steps: step + steps,
        lr: config.learningRate,
        warmup: config.warmup,
        decay: last > step ? last : 0,
      },
      ...{
        betas: `${BETA1},${BETA2}`,
        eps: EPSILON,
        'weight-decay': config.weightDecay,
        clip: config.maxNorm,
      },
    },
  });
}

/** Writes files into a folder, which is made. */
export async function writeFolder(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
