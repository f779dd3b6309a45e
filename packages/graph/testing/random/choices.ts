/** A pseudorandom generator with a fixed sequence: 32-bit xorshift. */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 2654435761) >>> 0 || 1;
  }

  below(n: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state % n;
  }

  of<A>(list: readonly A[]): A {
    return list[this.below(list.length)];
  }
}
