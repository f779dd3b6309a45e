import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import {
  cosineSchedule,
  createTrainer,
  type LoraConfig,
  loadModel,
  type Model,
  type ModelFiles,
  type StepReport,
  saveAdapter,
} from '@tilewise/nn';
import { loadTokenizer } from '@tilewise/nn/tokenizer';
import { countingEngine } from './engine-memory.ts';
import { textBatches } from './text-batches.ts';

/** The options of fine-tuning. */
export interface FineTuneOptions<T extends TensorDesc> {
  readonly engine: TensorEngine<T>;
  /** `config.json`, the weights and `tokenizer.json`. */
  readonly files: ModelFiles;
  readonly text: string;
  /** The text that the samples start with. Default: the first words of the text. */
  readonly prompt?: string | undefined;
  readonly steps?: number | undefined;
  /** Tokens per sequence. */
  readonly context?: number | undefined;
  readonly rank?: number | undefined;
  readonly learningRate?: number | undefined;
  /** Recomputes the inside of each block in the backward pass: less memory, more time. */
  readonly recomputation?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  onSample?(when: 'before' | 'after', text: string): void;
  onStep?(report: StepReport): void;
}

/** The result of fine-tuning. */
export interface FineTuned {
  readonly before: string;
  readonly after: string;
  /** `adapter_config.json` and `adapter_model.safetensors`, which peft can read. */
  readonly adapter: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
  readonly memory: MemoryReport;
}

/** Bytes on the engine. */
export interface MemoryReport {
  readonly weights: number;
  readonly adapter: number;
  /**
   * The gradients and AdamW's state, which exist only for the adapter, and the most bytes that a step holds.
   */
  readonly training: number;
}

/** The names of the linear layers in attention that get an adapter, in all architectures. */
const targetNames = ['q_proj', 'v_proj', 'qkv_proj', 'c_attn', 'query', 'value'];

/**
 * Fine-tunes a model on a text with LoRA: loads the model, samples, trains an adapter, and samples again.
 * @throws the errors of `loadModel`; CheckpointError without a tokenizer; the signal's reason.
 */
export async function fineTune<T extends TensorDesc>(options: FineTuneOptions<T>): Promise<FineTuned> {
  const { files, text, steps = 100, context = 128, learningRate = 1e-3, signal, recomputation } = options;
  const { engine, memory } = countingEngine(options.engine);
  const tokenizer = await loadTokenizer(files);
  const tokens = tokenizer.encode(text, { addSpecialTokens: false });
  const prompt = options.prompt ?? tokenizer.decode(tokens.slice(0, 4));
  const model = await loadModel(files, { engine });
  try {
    const weights = memory.bytes;
    const sample = async (when: 'before' | 'after'): Promise<string> => {
      const ids = tokenizer.encode(prompt);
      for await (const token of model.generate([...ids], { maxNewTokens: 24, temperature: 0, signal }))
        ids.push(token);
      const said = tokenizer.decode(ids);
      options.onSample?.(when, said);
      return said;
    };
    const before = await sample('before');
    const loaded = memory.bytes;
    const trainer = createTrainer(model, {
      lora: loraOf(model, options.rank ?? 8),
      learningRate: cosineSchedule({ peak: learningRate, warmup: Math.ceil(steps / 20), steps }),
      recomputation,
    });
    const adapter = memory.bytes - loaded;
    memory.peak();
    try {
      const batches = textBatches(tokens, context);
      for (let n = 0; n < steps; n++) {
        signal?.throwIfAborted();
        options.onStep?.(await trainer.step(batches.next().value));
      }
    } finally {
      trainer.release();
    }
    const training = memory.peak() - loaded - adapter;
    const after = await sample('after');
    return { before, after, adapter: await saveAdapter(model), memory: { weights, adapter, training } };
  } finally {
    model.release();
  }
}

/** Adds LoRA to the attention of a model, whatever its layers are called. */
export function loraOf(model: Pick<Model, 'layers'>, rank: number): LoraConfig {
  const ends = new Set([...model.layers.linear.keys()].map(name => name.slice(name.lastIndexOf('.') + 1)));
  const targets = targetNames.filter(name => ends.has(name));
  return { rank, alpha: 2 * rank, targets };
}
