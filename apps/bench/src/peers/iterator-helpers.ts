/** Node 20 lacks the iterator helpers that jax-js uses; Node 22 has them. */
export async function addIteratorHelpers(): Promise<void> {
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;
  const define = (name: string, value: unknown): void => {
    if (!(name in prototype)) {
      Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
    }
  };
  type Callback<R> = (x: unknown, n: number) => R;
  const lazy = {
    *map(this: Iterable<unknown>, f: Callback<unknown>) {
      let n = 0;
      for (const x of this) yield f(x, n++);
    },
    *filter(this: Iterable<unknown>, f: Callback<boolean>) {
      let n = 0;
      for (const x of this) if (f(x, n++)) yield x;
    },
    *flatMap(this: Iterable<unknown>, f: Callback<Iterable<unknown>>) {
      let n = 0;
      for (const x of this) yield* f(x, n++);
    },
    *take(this: Iterable<unknown>, count: number) {
      let n = 0;
      if (count > 0)
        for (const x of this) {
          yield x;
          if (++n >= count) break;
        }
    },
    *drop(this: Iterable<unknown>, count: number) {
      let n = 0;
      for (const x of this) if (n++ >= count) yield x;
    },
  };
  for (const [name, value] of Object.entries(lazy)) define(name, value);
  for (const name of ['forEach', 'reduce', 'some', 'every', 'find'] as const) {
    define(name, function (this: Iterable<unknown>, ...args: unknown[]) {
      const method = Array.prototype[name] as (...given: unknown[]) => unknown;
      return method.apply([...this], args);
    });
  }
  define('toArray', function (this: Iterable<unknown>) {
    return [...this];
  });
}
