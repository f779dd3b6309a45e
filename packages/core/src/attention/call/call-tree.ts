import type { TensorDesc } from '../../tensor/tensor-desc.ts';

/** The value that a tree holds for calls that pass the same checks; undefined until it is set. */
export interface CallEntry<V> {
  value?: V;
}

interface Node<V> extends CallEntry<V> {
  /** The token that the last call had here, which the next call often has too, and the node of this token. */
  token?: unknown;
  last?: Node<V>;
  /** The nodes of all tokens, if there are several. */
  next?: Map<unknown, Node<V>>;
}

/** The number of nodes beyond which a tree forgets all calls: more than a program's calls normally have. */
const MAX_NODES = 2 ** 14;

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
   * The entry that two calls share only if the same rules hold for both. Null if an input is not a tensor of
   * the engine, if an option is an object or a function, whose content may change, or if either argument is
   * not a plain object, since options can be inherited.
   */
  entry(tensors: object, options: object | undefined = {}): CallEntry<V> | null {
    if (!isPlain(tensors) || !isPlain(options)) return null;
    if (this.#nodes > MAX_NODES) {
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
      if (Object(value) === value) return null;
      at = this.#next(this.#next(at, name), value);
    }
    return at;
  }

  #next(from: Node<V>, token: unknown): Node<V> {
    if (from.last) {
      if (from.token === token) return from.last;
      from.next ??= new Map([[from.token, from.last]]);
    }
    let node = from.next?.get(token);
    if (!node) {
      node = {};
      from.next?.set(token, node);
      this.#nodes++;
    }
    from.token = token;
    from.last = node;
    return node;
  }
}

function isPlain(value: object | undefined): value is Readonly<Record<string, unknown>> {
  return !!value && Object.getPrototypeOf(value) === Object.prototype;
}
