import { Tensor, type TensorDesc } from '@tilewise/core';
import {
  add,
  type CompiledFunction,
  compile,
  constant,
  equal,
  gather,
  pad,
  reshape,
  type Specs,
  type Variable,
  where,
} from '@tilewise/graph/ops';
import type { ModelDefinition } from '../architectures/architecture.ts';
import { adapterOf } from '../lora/adapter.ts';
import { describeAll, type Model } from '../model/model.ts';
import { weightScope } from '../model/weights.ts';
import { decoderLogits, decoderStates } from '../transformer/decoder.ts';
import type { SeenKeys } from '../transformer/self-attention.ts';

/** A decoder with the keys and values of the tokens so far. */
export interface CachedDecoder {
  /** Logits (B, vocabulary) after prompts, rows with padding on the right. */
  prefill(prompts: readonly (readonly number[])[]): Promise<Tensor>;
  /** Logits (B, vocabulary) after one more token of each sequence. */
  decode(tokens: readonly number[]): Promise<Tensor>;
  release(): void;
}

/** What both functions give: logits, and the keys and values of each layer. */
interface StepResult {
  readonly logits: Variable;
  readonly caches: readonly Variable[];
}

type Causal = Extract<ModelDefinition, { readonly kind: 'causal' }>;

/**
 * Readies a decoder for sequences of up to `length` tokens. Keys and values lie in memory for all of them,
 * (B, Hk, length, D) for each layer, twice: a step reads one and writes the other. A step allocates nothing
 * that is as large.
 */
export function cachedDecoder<T extends TensorDesc>(
  model: Model<T>,
  { decoder }: Causal,
  { batch, length }: { readonly batch: number; readonly length: number },
): CachedDecoder {
  const { engine } = model;
  const cacheNames = Array.from({ length: decoder.layers }, (_, n) => [
    `cache.${n}.k`,
    `cache.${n}.v`,
  ]).flat();
  const cacheShape = (name: string): readonly number[] => {
    const { kvHeads, headDim } = decoder.attention(Number(name.split('.')[1]));
    return [batch, kvHeads, length, headDim];
  };
  const allocate = (): Map<string, T> =>
    new Map(
      cacheNames.map(name => [name, engine.primitives.allocate({ dtype: 'f32', shape: cacheShape(name) })]),
    );
  let [current, next] = [allocate(), allocate()];
  let lengths: number[] = [];
  let decodeStep: CompiledFunction<Specs, StepResult, T> | undefined;

  /** Logits of the last token of each sequence, of states (B, S, dim). */
  function lastLogits(inputs: Readonly<Record<string, Variable>>, states: Variable): Variable {
    const [B, S, dim] = states.shape;
    const first = constant(
      Tensor.from(
        Array.from({ length: B }, (_, b) => b * S - 1),
        [B],
        { dtype: 'i32' },
      ),
    );
    const last =
      S === 1 ? reshape(states, [B, dim]) : gather(reshape(states, [B * S, dim]), add(first, inputs.lengths));
    return decoderLogits(scopeOf(inputs), decoder, last);
  }

  function scopeOf(inputs: Readonly<Record<string, Variable>>): ReturnType<typeof weightScope> {
    return weightScope(inputs, adapterOf(model.adapter, inputs));
  }

  async function run(
    step: CompiledFunction<Specs, StepResult, T>,
    tensors: Readonly<Record<string, Tensor>>,
    caches: ReadonlyMap<string, T> | null,
  ): Promise<Tensor> {
    const bindings = { ...tensors, ...model.bindings(), ...(caches && Object.fromEntries(caches)) };
    const results = await step(bindings, [undefined, ...next.values()]);
    [current, next] = [next, current];
    const logits = await engine.download(results.logits as T);
    engine.release(results.logits as T);
    return logits;
  }

  return {
    async prefill(prompts) {
      const S = Math.max(...prompts.map(prompt => prompt.length));
      lengths = prompts.map(prompt => prompt.length);
      const padded = prompts.flatMap(prompt => [...prompt, ...new Array<number>(S - prompt.length).fill(0)]);
      const tensors = {
        tokens: Tensor.from(padded, [batch, S], { dtype: 'i32' }),
        lengths: Tensor.from(lengths, [batch], { dtype: 'i32' }),
      };
      const step = compile(
        engine,
        (inputs: Readonly<Record<string, Variable>>): StepResult => {
          const caches: Variable[] = [];
          const keep = (k: Variable, v: Variable): SeenKeys => {
            for (const t of [k, v])
              caches.push(pad(t, { before: [0, 0, 0, 0], after: [0, 0, length - S, 0] }));
            return { k, v, diagonal: 'top-left' };
          };
          const { tokens, lengths: own } = inputs;
          const states = decoderStates(scopeOf(inputs), decoder, { tokens, lengths: own, cache: () => keep });
          return { logits: lastLogits(inputs, states), caches };
        },
        { ...describeAll(tensors), ...model.specs() } as Specs,
      );
      try {
        return await run(step, tensors, null);
      } finally {
        step.release();
      }
    },
    async decode(tokens) {
      const list = (values: readonly number[], shape: readonly number[]): Tensor =>
        Tensor.from(values, shape, { dtype: 'i32' });
      const tensors = {
        tokens: list(tokens, [batch, 1]),
        positions: list(lengths, [batch, 1]),
        lengths: list(
          lengths.map(n => n + 1),
          [batch],
        ),
      };
      decodeStep ??= compile(
        engine,
        (inputs: Readonly<Record<string, Variable>>): StepResult => {
          const caches: Variable[] = [];
          const places = constant(
            Tensor.from(
              Array.from({ length }, (_, n) => n),
              [1, 1, length, 1],
              { dtype: 'i32' },
            ),
          );
          const isNew = equal(places, reshape(inputs.positions, [batch, 1, 1, 1]));
          const states = decoderStates(scopeOf(inputs), decoder, {
            tokens: inputs.tokens,
            lengths: inputs.lengths,
            positions: { indices: inputs.positions, length },
            cache: layer => (k, v) => {
              const [allK, allV] = [k, v].map((own, n) =>
                where(isNew, own, inputs[cacheNames[2 * layer + n]]),
              );
              caches.push(allK, allV);
              return { k: allK, v: allV, diagonal: 'bottom-right' };
            },
          });
          return { logits: lastLogits(inputs, states), caches };
        },
        {
          ...describeAll(tensors),
          ...model.specs(),
          ...Object.fromEntries(cacheNames.map(name => [name, cacheShape(name)])),
        } as Specs,
      );
      const logits = await run(decodeStep, tensors, current);
      lengths = lengths.map(n => n + 1);
      return logits;
    },
    release() {
      decodeStep?.release();
      for (const tensor of [...current.values(), ...next.values()]) engine.release(tensor);
    },
  };
}
