import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createModel, createTrainer, readModel } from '@tilewise/nn';
import { countingEngine } from './engine-memory.ts';
import { loraOf, type MemoryReport } from './fine-tune.ts';

/** A Llama of 100 million parameters. */
const llama100M: Readonly<Record<string, unknown>> = {
  ...{ model_type: 'llama', vocab_size: 16_000, hidden_size: 768, intermediate_size: 2048 },
  ...{ num_hidden_layers: 12, num_attention_heads: 12, num_key_value_heads: 4, tie_word_embeddings: false },
};

/** The memory of a LoRA step on one sequence, for a model with random f16 weights. */
export async function memoryOfLora<T extends TensorDesc>(
  given: TensorEngine<T>,
  options: {
    readonly config?: Readonly<Record<string, unknown>>;
    readonly sequence: number;
    readonly recomputation: boolean;
  },
): Promise<MemoryReport & { readonly parameters: number }> {
  const { config = llama100M, sequence, recomputation } = options;
  const { engine, memory } = countingEngine(given);
  const model = createModel(readModel(config), { engine, dtype: 'f16' });
  const weights = memory.bytes;
  const trainer = createTrainer(model, { lora: loraOf(model, 8), learningRate: 1e-4, recomputation });
  const adapter = memory.bytes - weights;
  const vocabulary = Math.min(101, Number(config.vocab_size));
  const tokens = [Array.from({ length: sequence }, (_, n) => (n * n) % vocabulary)];
  memory.peak();
  await trainer.step({ inputs: { tokens }, labels: tokens });
  const training = memory.peak() - weights - adapter;
  trainer.release();
  model.release();
  return { weights, adapter, training, parameters: model.parameterCount };
}
