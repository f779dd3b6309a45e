import type { Choice, Draft } from '../draft.ts';

/** Values that go with a value of another option, by the name of the option that has them. */
export type Needs = Readonly<Record<string, readonly unknown[]>>;

/** An option of attention, as random problems use it. */
export interface OptionSpec<V> {
  readonly name: string;
  /**
   * `structure`: kernels depend on the value, so that problems share it. `number`: any two problems may
   * differ in it.
   */
  readonly kind: 'structure' | 'number';
  /** Plain data; the first is the one that asks for nothing. */
  readonly values: readonly V[];
  /** The other options that a value needs: by name, those of their values that go with it. Default: any. */
  readonly needs?: (value: V) => Needs;
  /** Sets sizes, lengths and dtypes, before any tensor is made. */
  readonly size?: (draft: Draft, value: V) => void;
  /** Adds to the options of the call. */
  readonly add?: (draft: Draft, value: V) => void;
}

/** An option whose values are only known to itself. */
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
