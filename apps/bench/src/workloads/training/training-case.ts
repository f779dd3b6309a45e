import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { createModel, encodeSafetensors, readModel } from '@tilewise/nn';

/** A model and a batch that every implementation trains. */
export interface TrainingCase {
  readonly name: string;
  /** `config.json` of a GPT-2. */
  readonly config: Readonly<Record<string, string | number>>;
  readonly batch: number;
  readonly sequence: number;
  /** The loss of the last checked step, in PyTorch 2.13 on the CPU, in f32. */
  readonly loss: number;
}

/** The number of steps from the initial weights on whose last loss every implementation is checked. */
export const CHECKED_STEPS = 3;

export const LEARNING_RATE = 1e-3;

function gpt2(
  name: string,
  sizes: Record<'layers' | 'dim' | 'heads' | 'vocabulary' | 'batch' | 'sequence', number>,
  loss: number,
): TrainingCase {
  const { layers, dim, heads, vocabulary, batch, sequence } = sizes;
  const config = {
    ...{ model_type: 'gpt2', vocab_size: vocabulary, n_embd: dim, n_head: heads, n_layer: layers },
    ...{ n_positions: sequence, layer_norm_epsilon: 1e-5 },
  };
  return { name, config, batch, sequence, loss };
}

/** The cases by name. */
export const trainingCases: readonly TrainingCase[] = [
  gpt2('demo', { layers: 2, dim: 32, heads: 4, vocabulary: 26, batch: 32, sequence: 24 }, 3.2031496),
  gpt2('4x256', { layers: 4, dim: 256, heads: 4, vocabulary: 512, batch: 4, sequence: 256 }, 5.6930499),
];

/** The rows of the batch: a sequence that can be learned, different in each row. */
export function tokensOf({ config, batch, sequence }: TrainingCase): number[][] {
  const vocabulary = Number(config.vocab_size);
  return Array.from({ length: batch }, (_, b) =>
    Array.from({ length: sequence }, (_, n) => (n * (b + 3) + ((n * n) >> 3)) % vocabulary),
  );
}

/** The initial weights of a case, on the host. */
export const weightsOfCase = ({ config }: TrainingCase): ReadonlyMap<string, Tensor> =>
  createModel(readModel(config), { engine: cpuEngine() }).weights;

/** Weights, batch and settings as a safetensors file, for implementations in other processes. */
export function encodeCase(of: TrainingCase): Uint8Array {
  const tokens = Tensor.from(tokensOf(of).flat(), [of.batch, of.sequence], { dtype: 'i32' });
  const settings = JSON.stringify({ ...of.config, learningRate: LEARNING_RATE });
  return encodeSafetensors(new Map([...weightsOfCase(of), ['tokens', tokens]]), { settings });
}
