import type { Variable } from '@tilewise/graph/ops';
import type { Scope } from '../architectures/transformer/scope.ts';
import type { FieldRules } from '../checks/check-fields.ts';
import { belowOne, flag, integerFrom, numberRule, required, texts } from '../checks/rules.ts';

/** A low-rank adapter on an engine: matrices A (r, in) and B (out, r) of some linear layers. */
export interface AdapterWeights<T> {
  /** The rank, the factor and the layers of the adapter. */
  readonly config: AdapterConfig;
  /** The matrices by name: `LAYER.lora_A.weight` and `LAYER.lora_B.weight`. */
  readonly tensors: Readonly<Record<string, T>>;
}

/** The configuration of an adapter. */
export interface LoraConfig {
  /** The number r of rows of A and of columns of B. */
  readonly rank: number;
  /** B·A·x is multiplied by `alpha / rank`; see `rankStabilised`. */
  readonly alpha: number;
  /** The layers that get an adapter, by the ends of their names, such as `q_proj`. */
  readonly targets: readonly string[];
  /** The probability that an element of x is dropped before the product with A, in training. Default 0. */
  readonly dropout?: number | undefined;
  /** Whether B·A·x is multiplied by `alpha / √rank` instead of `alpha / rank`. Default false. */
  readonly rankStabilised?: boolean | undefined;
}

/** A configuration with all fields. */
export interface AdapterConfig extends LoraConfig {
  readonly dropout: number;
  readonly rankStabilised: boolean;
}

export const loraRules: FieldRules<LoraConfig> = {
  rank: required(integerFrom(1)),
  alpha: required(numberRule('must be a number')),
  targets: required(texts),
  dropout: belowOne,
  rankStabilised: flag,
};

/** The factor of B·A·x. */
export function loraScale({ rank, alpha, rankStabilised }: LoraConfig): number {
  return alpha / (rankStabilised ? Math.sqrt(rank) : rank);
}

/** Whether a layer gets an adapter: its name is a target, or ends with a dot and a target. */
export function isTarget({ targets }: Pick<LoraConfig, 'targets'>, layer: string): boolean {
  return targets.some(target => layer === target || layer.endsWith(`.${target}`));
}

export const loraNames = (layer: string): readonly [a: string, b: string] => [
  `${layer}.lora_A.weight`,
  `${layer}.lora_B.weight`,
];

/** The adapters of a traced function, taken from its arguments by name. */
export function adapterOf(
  adapter: Pick<AdapterWeights<unknown>, 'config'> | null,
  inputs: Readonly<Record<string, Variable>>,
): Scope['adapter'] {
  return layer => {
    if (adapter === null) return null;
    const [a, b] = loraNames(layer).map(name => inputs[name]);
    const { dropout } = adapter.config;
    return a && b ? { a, b, scale: loraScale(adapter.config), dropout } : null;
  };
}
