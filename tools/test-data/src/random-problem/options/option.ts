import type { Choice, Draft } from '../draft.ts';

/** For other options by name, the values that can be combined with a value. */
export type Needs = Readonly<Record<string, readonly unknown[]>>;

/** An option of attention, as random problems use it. */
export interface OptionSpec<V> {
  readonly name: string;
  /**
   * `structure`: kernels depend on the value, so problems share it. `number`: the value may differ between
   * any two problems.
   */
  readonly kind: 'structure' | 'number';
  /** Plain data; the first value is the default, which sets nothing. */
  readonly values: readonly V[];
  /**
   * The requirements of a value: for other options by name, the values that it can be combined with. Default:
   * any.
   */
  readonly needs?: (value: V) => Needs;
  /** Sets sizes, lengths and dtypes, before any tensor is made. */
  readonly size?: (draft: Draft, value: V) => void;
  /** Adds to the options of the call. */
  readonly add?: (draft: Draft, value: V) => void;
}

/** An option whose value type is known only to itself. */
export interface RandomOption {
  readonly name: string;
  readonly kind: 'structure' | 'number';
  readonly values: readonly unknown[];
  needs(value: unknown): Needs;
  size(draft: Draft): void;
  add(draft: Draft): void;
}

export function option<const V>(spec: OptionSpec<V>): RandomOption {
  const { name, kind, values, needs, size, add } = spec;
  const own = (choice: Choice): V => choice[name] as V;
  return {
    name,
    kind,
    values,
    needs: value => needs?.(value as V) ?? {},
    size: draft => size?.(draft, own(draft.choice)),
    add: draft => add?.(draft, own(draft.choice)),
  };
}
