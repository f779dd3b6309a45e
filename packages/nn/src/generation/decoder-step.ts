import { type DType, Tensor, type TensorDesc } from '@tilewise/core';
import { add, constant, gather, reshape, tensorScatter, type Variable } from '@tilewise/graph/ops';
import type { ModelDefinition } from '../architectures/architecture.ts';
import {
  type DecoderTable,
  decoderLogits,
  decoderStates,
  rotaryValues,
} from '../architectures/transformer/decoder.ts';
import type { RopeRule } from '../architectures/transformer/rope.ts';
import { integers } from '../architectures/transformer/scope.ts';
import { describeAll, type Model } from '../model/model.ts';

export type Causal = Extract<ModelDefinition, { readonly kind: 'causal' }>;

/** New tokens of some sequences, the rows padded to one length. */
export interface NewTokens {
  readonly tokens: readonly (readonly number[])[];
  /** The number of tokens of each sequence in the cache. */
  readonly first: readonly number[];
  /** The length of each sequence that determines its angles: the number of all its tokens. */
  readonly lengths: readonly number[];
}

/** The sizes of a cache and of one addition to it. */
export interface StepShape {
  readonly batch: number;
  /** The number of tokens that fit into the cache. */
  readonly capacity: number;
  /** The number of new tokens of each sequence, including padding. */
  readonly size: number;
}

/** A decoder that reads new tokens of some sequences and adds their keys and values to a cache. */
export interface DecoderStep<T extends TensorDesc> {
  /**
   * Reads new tokens, and writes the logits of the last token of each sequence, f32 (B, vocabulary). A device
   * reads them back in the submission that computes them.
   * @param caches keys and values by the names of `cacheSpecs`; the new ones are written in place.
   */
  run(added: NewTokens, caches: Readonly<Record<string, T>>, logits: Tensor): Promise<void>;
}

/** The shapes and the dtype of the cache of each layer, by name. */
export function cacheSpecs(
  { autocast }: Pick<Model, 'autocast'>,
  { decoder }: Causal,
  { batch, capacity }: Omit<StepShape, 'size'>,
): Readonly<Record<string, { readonly shape: readonly number[]; readonly dtype: DType }>> {
  const dtype: DType = autocast ?? 'f32';
  const layers = Array.from({ length: decoder.layers }, (_, n) => n);
  return Object.fromEntries(
    layers.flatMap(layer => {
      const { kvHeads, headDim } = decoder.attention(layer);
      const shape = [batch, kvHeads, capacity, headDim];
      return ['k', 'v'].map(t => [`cache.${layer}.${t}`, { shape, dtype }] as const);
    }),
  );
}

/** The distinct rotation rules of a decoder. */
export function ropeRules({ rope, layers }: DecoderTable): readonly RopeRule[] {
  if (!rope) return [];
  return [...new Set(Array.from({ length: layers }, (_, layer) => rope(layer)))];
}

/**
 * Prepares a decoder for a fixed number of sequences and of new tokens. The positions of the tokens are
 * inputs, so one graph serves all positions in the cache.
 */
export function decoderStep<T extends TensorDesc>(
  model: Model<T>,
  definition: Causal,
  shape: StepShape,
): DecoderStep<T> {
  const { decoder } = definition;
  const { batch, size } = shape;
  const rules = ropeRules(decoder);
  const inputs = stepInputs(rules, shape);
  const step = model.compiled(
    `decoder step ${JSON.stringify(shape)}`,
    { ...describeAll(inputs), ...cacheSpecs(model, definition, shape) },
    (scope, given) => {
      const kept: Variable[] = [];
      const states = decoderStates(scope, decoder, {
        tokens: given.tokens,
        lengths: given.lengths,
        positions: {
          indices: given.positions,
          rotary: rule => ({
            cos: given[`cos.${rules.indexOf(rule)}`],
            sin: given[`sin.${rules.indexOf(rule)}`],
          }),
        },
        cache: layer => ({
          append(...own) {
            const [k, v] = own.map((t, n) => {
              const name = `cache.${layer}.${n === 0 ? 'k' : 'v'}`;
              return tensorScatter(given[name], t, given.first, { axis: 2 });
            });
            kept.push(k, v);
            return { k, v };
          },
          counts: size === 1 ? undefined : given.counts,
        }),
      });
      const dim = states.shape[2];
      const last =
        size === 1
          ? reshape(states, [batch, dim])
          : gather(reshape(states, [batch * size, dim]), add(rowEnds(batch, size), given.counts));
      return { logits: decoderLogits(scope, decoder, last), kept };
    },
  );

  return {
    async run(added, held, logits) {
      writeInputs(inputs, rules, added, shape);
      await step(model.bindings<T | Tensor>(inputs, held), [logits, ...Object.values(held)]);
    },
  };
}

/** The number of positions before the first row of each sequence. */
function rowEnds(batch: number, size: number): Variable {
  const places = Array.from({ length: batch }, (_, b) => b * size - 1);
  return constant(integers(places));
}

/** The tensors of a step besides weights and caches, which all steps of a text share. */
function stepInputs(
  rules: readonly RopeRule[],
  { batch, size }: StepShape,
): Readonly<Record<string, Tensor>> {
  const zeros = (...shape: number[]): Tensor => Tensor.zeros(shape, { dtype: 'i32' });
  const tables = rules.flatMap((rule, n) => {
    const shape = [batch, 1, size, rule.at(1).frequencies.length];
    return ['cos', 'sin'].map(name => [`${name}.${n}`, Tensor.zeros(shape)] as const);
  });
  return {
    ...{ tokens: zeros(batch, size), positions: zeros(batch, size) },
    ...{ first: zeros(batch), lengths: zeros(batch) },
    ...(size > 1 && { counts: zeros(batch) }),
    ...Object.fromEntries(tables),
  };
}

function writeInputs(
  inputs: Readonly<Record<string, Tensor>>,
  rules: readonly RopeRule[],
  { tokens, first, lengths }: NewTokens,
  { size, capacity }: StepShape,
): void {
  tokens.forEach((row, b) => {
    const places = Array.from({ length: size }, (_, n) => Math.min(first[b] + n, capacity - 1));
    inputs.tokens.data.fill(0, b * size, (b + 1) * size);
    inputs.tokens.data.set(row, b * size);
    inputs.positions.data.set(places, b * size);
    inputs.first.data[b] = first[b];
    inputs.lengths.data[b] = first[b] + row.length;
    if (size > 1) inputs.counts.data[b] = row.length;
    rules.forEach((rule, n) => {
      const [cos, sin] = rotaryValues(rule.at(lengths[b]), places);
      inputs[`cos.${n}`].data.set(cos, b * cos.length);
      inputs[`sin.${n}`].data.set(sin, b * sin.length);
    });
  });
}
