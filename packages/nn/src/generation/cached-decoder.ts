import { Tensor, type TensorDesc } from '@tilewise/core';
import { getOrInsertComputed } from '../model/get-or-insert.ts';
import type { Model } from '../model/model.ts';
import { nextTurn } from '../model/next-turn.ts';
import { createAll, releaseAll } from '../model/upload.ts';
import { type Causal, cacheSpecs, type DecoderStep, decoderStep, ropeRules } from './decoder-step.ts';

/** A decoder with a cache of the keys and values of the tokens so far. */
export interface CachedDecoder {
  /**
   * Reads the next tokens of each sequence, any number for each.
   * @returns the logits (vocabulary) of the last token of each sequence; a sequence without new tokens keeps
   * its previous logits. The next call overwrites them.
   */
  read(added: readonly (readonly number[])[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
  release(): void;
}

/** The largest number of tokens of a sequence that are read at once. */
const MAX_TOKENS_AT_ONCE = 256;
/** Cache capacities are multiples of this number of tokens, and large ones of a larger power of two. */
const CAPACITY_STEP = 256;

/**
 * Prepares a decoder for sequences of up to `length` tokens; a model with learned positions must have as
 * many. New keys and values are written in place to the caches, (B, Hk, capacity, D) for each layer, and a
 * step allocates no buffer on the engine. If the angles of positions change with the length of a sequence,
 * all of its tokens are read again.
 */
export function cachedDecoder<T extends TensorDesc>(
  model: Model<T>,
  definition: Causal,
  { batch, length }: { readonly batch: number; readonly length: number },
): CachedDecoder {
  const { engine } = model;
  const { decoder } = definition;
  // Each capacity has its own compiled graphs, which the model keeps. With steps of half a power of two, a
  // text that grows to 8,192 tokens, as a conversation does, has 10 capacities.
  const step = Math.max(2 ** Math.floor(Math.log2(length) - 1), CAPACITY_STEP);
  const capacity = Math.min(Math.ceil(length / step) * step, decoder.positions?.count ?? Infinity);
  const { vocabulary } = decoder;
  const steps = new Map<number, DecoderStep<T>>();
  const rules = ropeRules(decoder).filter(({ changes }) => changes);
  const texts: number[][] = Array.from({ length: batch }, () => []);
  const cached = texts.map(() => 0);
  const results = texts.map(() => new Float32Array(vocabulary));
  const logits = Tensor.zeros([batch, vocabulary]);
  const angles = texts.map(() => '');

  const specs = new Map(Object.entries(cacheSpecs(model, definition, { batch, capacity })));
  const caches = Object.fromEntries(createAll(engine, specs, spec => engine.primitives.allocate(spec)));

  const stepOf = (size: number): DecoderStep<T> =>
    getOrInsertComputed(steps, size, () => decoderStep(model, definition, { batch, capacity, size }));

  /** Reads some tokens that the cache does not hold yet. */
  async function readSome(): Promise<void> {
    const most = Math.max(...texts.map((text, b) => text.length - cached[b]));
    const size = Math.min(2 ** Math.ceil(Math.log2(most)), MAX_TOKENS_AT_ONCE, capacity);
    const tokens = texts.map((text, b) => text.slice(cached[b], cached[b] + size));
    const lengths = texts.map(text => text.length);
    // A step of one token cannot represent zero tokens.
    const fed = tokens.map(row => (row.length === 0 && size === 1 ? [0] : row));
    await stepOf(size).run({ tokens: fed, first: [...cached], lengths }, caches, logits);
    tokens.forEach((row, b) => {
      cached[b] += row.length;
      if (row.length > 0) results[b].set(logits.slice(0, b, b + 1).toFloat32());
    });
  }

  /** The angles for a sequence of the given length, if they depend on it. */
  const anglesAt = (tokens: number): string => rules.map(rule => rule.at(tokens).frequencies.join()).join();

  return {
    async read(added, signal) {
      for (const [b, tokens] of added.entries()) {
        for (const token of tokens) texts[b].push(token);
        const own = anglesAt(texts[b].length);
        if (own !== angles[b]) cached[b] = 0;
        angles[b] = own;
      }
      while (texts.some((text, b) => cached[b] < text.length)) {
        await nextTurn();
        signal?.throwIfAborted();
        await readSome();
      }
      return results;
    },
    release() {
      releaseAll(engine, Object.values(caches));
    },
  };
}
