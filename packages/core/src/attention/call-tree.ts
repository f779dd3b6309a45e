import type { TensorDesc } from '../tensor/tensor-desc.ts';

/** What is remembered of calls that pass the same checks. */
export interface CallEntry<V> {
  value?: V;
}

interface Node<V> extends CallEntry<V> {
  next?: Map<unknown, Node<V>>;
}

/** The nodes after which a tree starts again: more than a program's calls normally have. */
const MOST_NODES = 2 ** 13;

/**
 * Remembers values of calls by the names and descriptions of their tensors, and by their options. Each name,
 * dtype, extent, stride and option is a level of a tree, so that looking up a call makes no string.
 */
export class CallTree<V> {
  readonly #isTensor: (value: unknown) => value is TensorDesc;
  #root: Node<V> = {};
  #nodes = 0;

  /** @param isTensor whether a value is a tensor of the engine. */
  constructor(isTensor: (value: unknown) => value is TensorDesc) {
    this.#isTensor = isTensor;
  }

  /**
   * The entry that two calls share only if the same rules hold for both. Null if the tensors include anything
   * else, if the options hold anything but numbers, strings and booleans, or if either object has a
   * prototype, whose entries the rules do not read.
   */
  entry(tensors: object, options: object | undefined = {}): CallEntry<V> | null {
    if (!isPlain(tensors) || !isPlain(options)) return null;
    if (this.#nodes > MOST_NODES) {
      this.#root = {};
      this.#nodes = 0;
    }
    let at = this.#root;
    for (const name in tensors) {
      const tensor = tensors[name];
      if (tensor === undefined) continue;
      if (!this.#isTensor(tensor)) return null;
      const { dtype, shape, strides } = tensor;
      at = this.#next(this.#next(this.#next(at, name), dtype), shape.length);
      for (let d = 0; d < shape.length; d++) at = this.#next(this.#next(at, shape[d]), strides[d]);
    }
    for (const name in options) {
      const value = options[name];
      if (value === undefined) continue;
      if (typeof value !== 'string' && typeof value !== 'boolean' && !Number.isFinite(value)) return null;
      at = this.#next(this.#next(at, name), value);
    }
    return at;
  }

  #next(from: Node<V>, token: unknown): Node<V> {
    from.next ??= new Map();
    const known = from.next.get(token);
    if (known) return known;
    const node: Node<V> = {};
    from.next.set(token, node);
    this.#nodes++;
    return node;
  }
}

function isPlain(value: object | undefined): value is Readonly<Record<string, unknown>> {
  return !!value && Object.getPrototypeOf(value) === Object.prototype;
}
