import { InvalidArgumentError } from '@tilewise/core';

/** The limit for the length of a report's strings and lists. */
const [maxCharacters, maxEntries] = [4096, 1024];

/**
 * A value from untrusted JSON, read field by field; every method throws InvalidArgumentError if the value is
 * of another kind.
 */
export class JsonReader {
  readonly #value: unknown;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    this.#value = value;
    this.#path = path;
  }

  #refuse(rule: string): never {
    throw new InvalidArgumentError(this.#path, `must be ${rule}`);
  }

  get isAbsent(): boolean {
    return this.#value === undefined || this.#value === null;
  }

  at(name: string): JsonReader {
    const value = this.#value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.#refuse('an object');
    const own = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    return new JsonReader(own, `${this.#path}.${name}`);
  }

  list<T>(read: (entry: JsonReader) => T): T[] {
    const value = this.#value;
    if (!Array.isArray(value) || value.length > maxEntries)
      this.#refuse(`a list of at most ${maxEntries} entries`);
    return value.map((entry, n) => read(new JsonReader(entry, `${this.#path}[${n}]`)));
  }

  text(): string {
    const value = this.#value;
    if (typeof value !== 'string' || value.length > maxCharacters)
      this.#refuse(`a string of at most ${maxCharacters} characters`);
    return value;
  }

  oneOf<const T extends string>(choices: readonly T[]): T {
    return choices.find(choice => choice === this.#value) ?? this.#refuse(`one of ${choices.join(', ')}`);
  }

  flag(): boolean {
    return typeof this.#value === 'boolean' ? this.#value : this.#refuse('true or false');
  }

  /** At least 0, and finite. */
  number(): number {
    const value = this.#value;
    return typeof value === 'number' && value >= 0 && Number.isFinite(value)
      ? value
      : this.#refuse('a finite number of at least 0');
  }

  /** At least 0; the string 'Infinity' is infinite. */
  error(): number {
    return this.#value === 'Infinity' ? Number.POSITIVE_INFINITY : this.number();
  }

  optional<T>(read: (reader: JsonReader) => T): T | undefined {
    return this.isAbsent ? undefined : read(this);
  }
}
