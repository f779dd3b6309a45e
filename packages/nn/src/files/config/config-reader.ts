import type { Rule } from '../../checks/check-fields.ts';
import { aboveZero, flag, fromZero, integerFrom, numberRule, oneOf } from '../../checks/rules.ts';
import { ConfigError } from './config-error.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Options that do not affect the computation here: names, tokens, other features of the library that wrote
 * the file, and dropout in training, which only adapters have here.
 */
const ignoredOptions: ReadonlySet<string> = new Set(
  [
    'name_or_path model_type architectures auto_map dtype torch_dtype torchscript tokenizer_class',
    'is_llama_config use_cache encoder_stride prefix directionality',
    'task_specific_params finetuning_task problem_type id2label label2id temperature typical_p top_p top_k',
    'no_repeat_ngram_size min_length max_length max_sequence_length early_stopping do_sample',
    'remove_invalid_values predict_special_tokens n_special n_ctx gradient_checkpointing use_bfloat16',
    'cache_implementation tf_legacy_loss pretraining_tp chunk_size_feed_forward',
  ].flatMap(line => line.split(' ')),
);

/**
 * The names of more such options: private fields, weight initialisation, beam search, formats of outputs,
 * layers that GPT-2 and encoders have for other tasks, fields of other libraries, dropout probabilities, and
 * token ids.
 */
const ignoredNames = new RegExp(
  '^(_|initializer_|num_(beam|labels|return)|output_|pooler_|summary_|transformers|unsloth_)' +
    '|_p?drop(out(_prob)?)?$|_(penalty|token_ids?)$|return_dict|suppress_tokens|encoder_decoder',
);

const countRule = numberRule(
  'must be an integer from 1 to 4096',
  x => Number.isInteger(x) && x > 0 && x <= 4096,
);

/** Reads the options of a `config.json` and records which it has read, so that none is ignored. */
export class ConfigReader {
  readonly #json: Json;
  readonly #path: string;
  readonly #file: string;
  readonly #read = new Set<string>();

  constructor(json: Json, path = '', file = 'config.json') {
    this.#json = json;
    this.#path = path;
    this.#file = file;
  }

  /** The number of options. */
  get size(): number {
    return Object.keys(this.#json).length;
  }

  /** Whether an option is given and not null. */
  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  /** A value that meets a rule. Without a fallback, the option is required. */
  checked<V>(name: string, { rule, holds }: Rule, fallback?: V): V {
    const value = this.#value(name) ?? fallback;
    if (value === undefined) this.fail(name, 'is missing');
    if (!holds(value)) this.fail(name, `${rule}, got ${JSON.stringify(value)}`);
    return value as V;
  }

  /** An integer of at least `least`. Without a fallback, the option is required. */
  integer(name: string, fallback?: number, least = 1): number {
    return this.checked(name, integerFrom(least), fallback);
  }

  /** An integer from 1 to 4096, for what is built one by one: layers, or the elements of a head. */
  count(name: string, fallback?: number): number {
    return this.checked(name, countRule, fallback);
  }

  /** A number of at least 0. */
  number(name: string, fallback?: number): number {
    return this.checked(name, fromZero, fallback);
  }

  /** A number above 0. */
  positive(name: string, fallback?: number): number {
    return this.checked(name, aboveZero, fallback);
  }

  flag(name: string, fallback?: boolean): boolean {
    return this.checked(name, flag, fallback);
  }

  /** A number above 0; undefined if the option is null, or missing without a fallback. */
  positiveOrNull(name: string, fallback?: number): number | undefined {
    return this.#isNone(name, fallback) ? undefined : this.positive(name, fallback);
  }

  /** An integer of at least `least`; undefined if the option is null, or missing without a fallback. */
  integerOrNull(name: string, fallback?: number, least = 1): number | undefined {
    return this.#isNone(name, fallback) ? undefined : this.integer(name, fallback, least);
  }

  /** A list of the given number of numbers above 0. */
  numbers(name: string, count: number): readonly number[] {
    return this.checked<readonly number[]>(name, {
      rule: `must be an array of ${count} numbers > 0`,
      holds: x => Array.isArray(x) && x.length === count && x.every(aboveZero.holds),
    });
  }

  /** One of the given strings. */
  oneOf<V extends string>(name: string, values: readonly V[], fallback?: V): V {
    return this.checked<V>(name, oneOf(...values), fallback);
  }

  /** The options of a nested object; null if it is not given. */
  object(name: string): ConfigReader | null {
    if (!this.has(name)) return null;
    const value = this.checked<Json>(name, {
      rule: 'must be an object',
      holds: x => typeof x === 'object' && !Array.isArray(x),
    });
    return new ConfigReader(value, `${this.#path}${name}.`, this.#file);
  }

  /**
   * Checks that an option, if given, has the only supported value.
   * @throws ConfigError naming the option otherwise.
   */
  only(name: string, ...values: readonly unknown[]): void {
    const value = this.#value(name);
    if (value === undefined || values.includes(value)) return;
    this.fail(
      name,
      `is ${JSON.stringify(value)}, and only ${values.map(v => JSON.stringify(v)).join(' or ')} is supported`,
    );
  }

  /** Checks that the value of an option divides that of another one. @throws ConfigError otherwise. */
  checkDivides(name: string, value: number, other: string, whole: number): void {
    if (whole % value !== 0) this.fail(name, `must divide ${other} ${whole}, got ${value}`);
  }

  fail(name: string, rule: string): never {
    throw new ConfigError(this.#path + name, rule, this.#file);
  }

  /** @throws ConfigError naming an option that was not read and would change what is computed. */
  finish(rule = 'is an unknown option'): void {
    const unknown = Object.keys(this.#json).find(
      name =>
        !this.#read.has(name) &&
        (this.#path !== '' || !(ignoredOptions.has(name) || ignoredNames.test(name))) &&
        // Empty objects and arrays, such as `pruned_heads: {}`, change as little as null.
        !/^(null|{}|\[])$/.test(JSON.stringify(this.#json[name])),
    );
    if (unknown !== undefined) this.fail(unknown, rule);
  }

  #isNone(name: string, fallback: unknown): boolean {
    const { [name]: value = fallback } = this.#json;
    return value === null || value === undefined;
  }

  #value(name: string): unknown {
    this.#read.add(name);
    return this.#json[name] ?? undefined;
  }
}
