/** The kind of rule that a failed call broke. The strings are stable: programs may branch on them. */
export type ErrorCode =
  | 'INVALID_ARGUMENT'
  | 'INVALID_SHAPE'
  | 'INVALID_DTYPE'
  | 'INVALID_GRAPH'
  | 'INVALID_OP'
  | 'UNSUPPORTED'
  | 'NO_ADAPTER'
  | 'DEVICE_LOST'
  | 'OUT_OF_MEMORY';

/** Details of an error: the argument that it is about, and the error that caused it. */
export interface TilewiseErrorOptions {
  /** The name of the offending argument, as the caller wrote it: `seed`, `options.dropout.p`. */
  readonly argument?: string | undefined;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/**
 * The base class of every error that a Tilewise package throws on purpose. The message names the argument,
 * its value and the rule that it breaks; `code` and `argument` are for programs. Messages of more than 2,000
 * characters are shortened in the middle.
 */
export class TilewiseError extends Error {
  override readonly name: string = 'TilewiseError';
  /** The kind of rule that was broken, for programs. */
  readonly code: ErrorCode;
  /** The name of the offending argument, as the caller wrote it; undefined if the error is about none. */
  readonly argument: string | undefined;

  constructor(code: ErrorCode, message: string, options: TilewiseErrorOptions = {}) {
    // A value from a file may be megabytes long. The rule stands before or after the value.
    super(message.replace(/^(.{999}).+(.{999})$/s, '$1 ... $2'), options);
    this.code = code;
    this.argument = options.argument;
  }
}

/**
 * An argument is outside what its function accepts; `code` is `INVALID_ARGUMENT`. The message is the
 * argument's name followed by the rule: `new InvalidArgumentError('p', 'must be in [0, 1), got 1.5')`.
 */
export class InvalidArgumentError extends TilewiseError {
  override readonly name: string = 'InvalidArgumentError';

  constructor(argument: string, rule: string, options: { readonly cause?: unknown } = {}) {
    super('INVALID_ARGUMENT', `${argument} ${rule}`, { ...options, argument });
  }
}

/**
 * Checks that an argument is an object with fields, and not an array.
 *
 * @param details the names of the fields, or text that follows "must be an object" in the error.
 * @throws InvalidArgumentError naming the argument.
 */
export function checkObject(
  argument: string,
  value: unknown,
  details: string | readonly string[] = '',
): void {
  // Checked by tag, so that objects from other realms are accepted, and maps are not.
  if (Object.prototype.toString.call(value) === '[object Object]') return;
  const kind = typeof details === 'string' ? details : ` of ${details.join(', ')}`;
  throw new InvalidArgumentError(argument, `must be an object${kind}, got ${describeValue(value)}`);
}

/**
 * Checks that the options of a call are an object, and that all of them are known.
 * @param argument the parameter that holds the options; those of `options` are named alone.
 * @throws InvalidArgumentError naming the parameter, or the option that is not among `names`.
 */
export function checkOptions(argument: string, options: unknown, names: readonly string[]): void {
  const prefix = argument === 'options' ? '' : `${argument}.`;
  checkObject(argument, options, prefix && names);
  for (const name of Object.keys(options as object)) {
    if (names.includes(name)) continue;
    throw new InvalidArgumentError(prefix + name, `is not an option; the options are ${names.join(', ')}`);
  }
}

/**
 * Returns an argument if it is one of the known values.
 * @throws InvalidArgumentError for another.
 */
export function checkOneOf<T>(argument: string, value: T, known: readonly T[]): T {
  if (known.includes(value)) return value;
  throw new InvalidArgumentError(argument, `must be one of ${known.join(', ')}, got ${describeValue(value)}`);
}

/**
 * Checks that an argument is a function.
 * @throws InvalidArgumentError for any other value.
 */
export function checkFunction(argument: string, value: unknown): void {
  if (typeof value !== 'function')
    throw new InvalidArgumentError(argument, `must be a function, got ${describeValue(value)}`);
}

/**
 * Returns an argument if it is a probability.
 * @throws InvalidArgumentError for a value that is not a number in [0, 1].
 */
export function checkProbability(argument: string, p: number): number {
  if (typeof p === 'number' && p >= 0 && p <= 1) return p;
  throw new InvalidArgumentError(argument, `must be a number in [0, 1], got ${describeValue(p)}`);
}

/**
 * Describes the value of an argument for an error message: bigints keep their `n`, strings their quotes, and
 * objects are described by their kind.
 */
export function describeValue(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return value.constructor?.name ?? 'an object';
}
