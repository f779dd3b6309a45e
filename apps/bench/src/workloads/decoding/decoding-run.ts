import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createModel, generate, readModel } from '@tilewise/nn';
import { startStopwatch, type Took } from '../../timing/stopwatch.ts';
import { openOnnxRuntime } from '../../wasm/onnxruntime.ts';
import { configOf, type DecoderSizes } from './decoder-case.ts';
import { onnxDecoder, rotaryTables } from './onnx-decoder.ts';

/** One implementation that continues a text. */
export interface DecodingRun {
  readonly name: string;
  /** The first generated token. */
  readonly first: number;
  /** Generates the given number of tokens. */
  tokens(count: number): Promise<Took>;
  close(): Promise<void>;
}

/** Our implementation: a text that grows. */
export async function ownDecoding<T extends TensorDesc>(
  engine: TensorEngine<T>,
  config: Readonly<Record<string, unknown>>,
  prompt: readonly number[],
  dtype: 'f32' | 'f16' | 'bf16',
): Promise<DecodingRun> {
  const model = createModel(readModel(config), { engine, dtype });
  const text = generate(model, prompt, { maxNewTokens: 1000 });
  const next = async (): Promise<number> => {
    const { value } = await text.next();
    if (typeof value !== 'number') throw new Error('the text has ended');
    return value;
  };
  const first = await next();
  return {
    name: `${engine.name} ${dtype}`,
    first,
    async tokens(count) {
      const stop = startStopwatch();
      for (let n = 0; n < count; n++) await next();
      return stop();
    },
    async close() {
      await text.return();
      model.release();
    },
  };
}

/**
 * onnxruntime-web on its WebAssembly provider, one thread: it repeats the step that reads the last token of
 * the prompt, with the keys and values of all earlier tokens.
 */
export async function onnxDecoding(
  folder: string,
  sizes: DecoderSizes,
  weights: ReadonlyMap<string, Tensor>,
  prompt: readonly number[],
): Promise<DecodingRun> {
  const runtime = await openOnnxRuntime(folder);
  const past = prompt.length - 1;
  const open = (model: Uint8Array) =>
    runtime.InferenceSession.create(model, { executionProviders: ['wasm'], logSeverityLevel: 3 });
  const inputs = (tokens: readonly number[], first: number) => {
    const { cos, sin, shape } = rotaryTables(sizes, first, tokens.length);
    return {
      tokens: new runtime.Tensor('int32', Int32Array.from(tokens), [1, tokens.length]),
      cos: new runtime.Tensor('float32', cos, shape),
      sin: new runtime.Tensor('float32', sin, shape),
    };
  };
  const reader = await open(onnxDecoder(sizes, weights, { past: 0, added: past }));
  const read = await reader.run(inputs(prompt.slice(0, past), 0));
  await reader.release();
  const caches = Object.entries(read).filter(([name]) => name.startsWith('present.'));
  const step = await open(onnxDecoder(sizes, weights, { past, added: 1 }));
  const feeds = {
    ...inputs(prompt.slice(past), past),
    ...Object.fromEntries(caches.map(([name, tensor]) => [name.replace('present', 'past'), tensor])),
  };
  const run = async (): Promise<number> => {
    const { data } = (await step.run(feeds)).logits;
    return data.reduce((best, x, n) => (x > data[best] ? n : best), 0);
  };
  return {
    name: 'onnxruntime-web f32',
    first: await run(),
    async tokens(count) {
      const stop = startStopwatch();
      for (let n = 0; n < count; n++) await run();
      return stop();
    },
    close: () => step.release(),
  };
}

/** The weights of a case's model as f32 host tensors. */
export async function weightsOf<T extends TensorDesc>(
  engine: TensorEngine<T>,
  sizes: DecoderSizes,
): Promise<Map<string, Tensor>> {
  const model = createModel(readModel(configOf(sizes)), { engine });
  const weights = new Map<string, Tensor>();
  for (const [name, tensor] of model.weights) {
    const { data, dtype, shape } = await engine.download(tensor);
    weights.set(name, Tensor.wrap(data.slice(), { dtype, shape }));
  }
  model.release();
  return weights;
}
