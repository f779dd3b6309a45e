import type { Tensor } from '@tilewise/core';
import { LEARNING_RATE, type TrainingCase, tokensOf } from '../training-case.ts';
import type { ArrayLibrary } from './array-library.ts';

/** Values of f32 with their shape. */
export interface Values {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/**
 * The inputs of a step besides the weights. They are one-hot rows, because every library can differentiate
 * products.
 */
export interface StepInputs<X> {
  /** (B·S, vocabulary): the tokens. */
  readonly tokens: X;
  /**
   * (B·S, vocabulary): the next tokens, each weighted by its share of the mean; 0 for the last token of a
   * sequence.
   */
  readonly targets: X;
  /** (S, S): −1e9 above the diagonal. */
  readonly mask: X;
}

/** The weights of a case in f32. */
export const weightValues = (weights: ReadonlyMap<string, Tensor>): Map<string, Values> =>
  new Map([...weights].map(([name, tensor]) => [name, { data: tensor.toFloat32(), shape: tensor.shape }]));

/** The inputs of each step of a case. */
export function inputValues(of: TrainingCase): StepInputs<Values> {
  const rows = tokensOf(of);
  const { batch: B, sequence: S } = of;
  const V = Number(of.config.vocab_size);
  const oneHot = (ids: readonly (number | undefined)[], weight: number): Values => {
    const data = new Float32Array(B * S * V);
    for (const [n, id] of ids.entries()) if (id !== undefined) data[n * V + id] = weight;
    return { data, shape: [B * S, V] };
  };
  const mask = Float32Array.from({ length: S * S }, (_, n) => (n % S > Math.floor(n / S) ? -1e9 : 0));
  return {
    tokens: oneHot(rows.flat(), 1),
    targets: oneHot(
      rows.flatMap(row => [...row.slice(1), undefined]),
      1 / (B * (S - 1)),
    ),
    mask: { data: mask, shape: [S, S] },
  };
}

/** The mean cross-entropy of the next tokens under a GPT-2, from its published definition. */
export function gpt2Loss<X>(
  lib: ArrayLibrary<X>,
  of: TrainingCase,
  weight: (name: string) => X,
  { tokens, targets, mask }: StepInputs<X>,
): X {
  const { batch: B, sequence: S, config } = of;
  const [dim, heads] = [Number(config.n_embd), Number(config.n_head)];
  const D = dim / heads;
  const normed = (x: X, name: string): X => {
    const centred = lib.subtract(x, lib.mean(x));
    const variance = lib.mean(lib.multiply(centred, centred));
    const deviation = lib.sqrt(lib.add(variance, Number(config.layer_norm_epsilon)));
    const scaled = lib.multiply(lib.divide(centred, deviation), weight(`${name}.weight`));
    return lib.add(scaled, weight(`${name}.bias`));
  };
  const linear = (x: X, name: string): X =>
    lib.add(lib.matmul(x, weight(`${name}.weight`)), weight(`${name}.bias`));
  const gelu = (x: X): X => {
    const cube = lib.multiply(lib.multiply(x, x), x);
    const inner = lib.multiply(lib.add(x, lib.multiply(cube, 0.044715)), Math.sqrt(2 / Math.PI));
    return lib.multiply(lib.multiply(x, 0.5), lib.add(lib.tanh(inner), 1));
  };
  const attended = (x: X, name: string): X => {
    const qkv = linear(x, `${name}.c_attn`);
    const [q, k, v] = [0, 1, 2].map(n => {
      const part = lib.reshape(lib.slice(qkv, n * dim, dim), [B, S, heads, D]);
      return lib.transpose(part, [0, 2, 1, 3]);
    });
    const scores = lib.add(lib.multiply(lib.matmul(q, k, true), 1 / Math.sqrt(D)), mask);
    const o = lib.transpose(lib.matmul(lib.softmax(scores), v), [0, 2, 1, 3]);
    return linear(lib.reshape(o, [B * S, dim]), `${name}.c_proj`);
  };
  const embedded = lib.reshape(lib.matmul(tokens, weight('transformer.wte.weight')), [B, S, dim]);
  let x = lib.reshape(lib.add(embedded, weight('transformer.wpe.weight')), [B * S, dim]);
  for (let n = 0; n < Number(config.n_layer); n++) {
    const block = `transformer.h.${n}`;
    x = lib.add(x, attended(normed(x, `${block}.ln_1`), `${block}.attn`));
    const hidden = gelu(linear(normed(x, `${block}.ln_2`), `${block}.mlp.c_fc`));
    x = lib.add(x, linear(hidden, `${block}.mlp.c_proj`));
  }
  const logits = lib.matmul(normed(x, 'transformer.ln_f'), weight('transformer.wte.weight'), true);
  return lib.multiply(lib.sum(lib.multiply(lib.logSoftmax(logits), targets)), -1);
}

/** The state of a run: weights, and AdamW's moving averages of gradients and of their squares. */
export interface AdamWState<X> {
  readonly weights: readonly X[];
  readonly first: readonly X[];
  readonly second: readonly X[];
}

const [BETA1, BETA2, EPSILON, DECAY] = [0.9, 0.999, 1e-8, 0.01];

/** The bias corrections of AdamW for step `step`, counted from 1. */
export const stepNumbers = (step: number): { readonly rate: number; readonly secondScale: number } => ({
  rate: LEARNING_RATE / (1 - BETA1 ** step),
  secondScale: 1 / Math.sqrt(1 - BETA2 ** step),
});

/** A step of AdamW with gradients clipped to a global norm of 1, as in the other implementations. */
export function adamwStep<X>(
  lib: ArrayLibrary<X>,
  { weights, first, second }: AdamWState<X>,
  gradients: readonly X[],
  { rate, secondScale }: { readonly rate: X | number; readonly secondScale: X | number },
): AdamWState<X> {
  const squares = gradients.map(gradient => lib.sum(lib.multiply(gradient, gradient)));
  const norm = lib.sqrt(squares.reduce((a, b) => lib.add(a, b)));
  const one = lib.divide(norm, norm);
  const clip = lib.minimum(lib.divide(one, lib.add(norm, 1e-6)), 1);
  const next = weights.map((weight, n) => {
    const gradient = lib.multiply(gradients[n], clip);
    const mean = lib.add(lib.multiply(first[n], BETA1), lib.multiply(gradient, 1 - BETA1));
    const square = lib.multiply(lib.multiply(gradient, gradient), 1 - BETA2);
    const meanSquare = lib.add(lib.multiply(second[n], BETA2), square);
    const root = lib.add(lib.multiply(lib.sqrt(meanSquare), secondScale), EPSILON);
    const decayed = lib.multiply(weight, 1 - LEARNING_RATE * DECAY);
    return [lib.subtract(decayed, lib.multiply(lib.divide(mean, root), rate)), mean, meanSquare] as const;
  });
  return { weights: next.map(([w]) => w), first: next.map(([, m]) => m), second: next.map(([, , v]) => v) };
}
