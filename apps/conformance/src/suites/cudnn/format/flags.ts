import { numeral, word64 } from './numerals.ts';

/** Byte counts, bounds or lengths, as the value of a flag. */
type Numbers = readonly number[];

/** The options of a case other than shapes, dtypes and layouts, by cuDNN's names. */
export interface Flags {
  readonly padding?: boolean;
  readonly seq_len_q?: Numbers | 'ones';
  readonly seq_len_kv?: Numbers | 'per-batch';
  /** A description of how lengths are drawn. */
  readonly seq_len?: string;
  readonly cu_seq_len?: boolean;
  readonly cu_seq_len_q?: Numbers;
  readonly cu_seq_len_kv?: Numbers;
  readonly ragged?: boolean | 'q,o';
  readonly max_total_seq_len_q?: number;
  readonly max_total_seq_len_kv?: number;
  readonly paged?: boolean;
  readonly block_size?: number;
  readonly packed_page_table?: boolean;
  readonly max_seq_len_kv?: number;
  readonly diagonal_alignment?: 'TOP_LEFT' | 'BOTTOM_RIGHT';
  readonly left_bound?: number;
  readonly right_bound?: number | string;
  /** FlashAttention's window: both sides without the diagonal key, −1 = unbounded, bottom-right aligned. */
  readonly window?: Numbers;
  readonly is_causal?: boolean;
  readonly bias?: boolean | Numbers | string;
  readonly bias_dtype?: string;
  readonly dBias?: boolean;
  readonly alibi?: boolean;
  readonly softcap?: number;
  readonly score_mod?: string;
  readonly score_mod_bprop?: string;
  readonly row_bound?: number;
  readonly col_bound?: number;
  readonly diag_bound_0?: number;
  readonly diag_bound_1?: number;
  readonly doc?: string;
  readonly block_mask?: boolean | Numbers;
  readonly sink_token?: boolean;
  readonly dSink?: boolean;
  readonly dropout?: number | string | readonly string[];
  readonly seed?: bigint;
  readonly offset?: bigint;
  readonly rng_dump?: boolean;
  readonly generate_stats?: boolean | string;
  readonly is_inference?: boolean;
  readonly stats_use_log2?: boolean;
  readonly score_max?: boolean;
  readonly score_sum_exp?: boolean;
  readonly amax_s?: boolean;
  readonly amax_o?: boolean;
  readonly amax?: readonly string[];
  readonly scale_s?: number;
  readonly scale_o?: number;
  readonly attn_scale?: readonly string[];
  readonly attn_scale_prefolded?: boolean;
  readonly deterministic?: boolean;
  readonly chunks?: number;
  readonly chunk?: number;
  readonly kv_len_per_chunk?: Numbers;
  readonly dynamic_batch?: boolean;
  readonly dynamic_shape?: boolean;
  readonly built_for?: Numbers;
  readonly implementation?: string;
  readonly unfuse_fma?: boolean;
  readonly rescale_threshold?: number;
  readonly softmax_precision?: string;
  readonly note?: string;
}

/**
 * Parses a list of document numbers, from the first bound up to, but not including, the second: `sorted
 * randint(0,16,(16,))`.
 */
export const documentIds: RegExp = /^sorted randint\((\d+), ?(\d+), ?\((\d+),\)\)$/;

type Check = (value: unknown) => boolean;

const isBoolean: Check = value => typeof value === 'boolean';
const isNumber: Check = value => typeof value === 'number' && Number.isFinite(value);
const isInteger: Check = value => Number.isInteger(value);
const isWord: Check = value => typeof value === 'bigint';
const isText: Check = value => typeof value === 'string';
const isIntegers: Check = value => Array.isArray(value) && value.every(isInteger);
const isTexts: Check = value => Array.isArray(value) && value.every(isText);
const isOneOf =
  (...values: readonly unknown[]): Check =>
  value =>
    values.includes(value);
const isAnyOf =
  (...checks: readonly Check[]): Check =>
  value =>
    checks.some(check => check(value));

/**
 * Every flag that the runner knows, with its valid values. The flags that change no result are numerical
 * settings of one vendor's kernels (`unfuse_fma`, `rescale_threshold`, `softmax_precision`), a choice among
 * them (`implementation`), or the shapes that a graph was built for before it ran with these (`built_for`,
 * `dynamic_shape`); each engine here has one way to compute.
 */
const checks: { readonly [F in keyof Required<Flags>]: Check } = {
  padding: isBoolean,
  seq_len_q: isAnyOf(isIntegers, isOneOf('ones')),
  seq_len_kv: isAnyOf(isIntegers, isOneOf('per-batch')),
  seq_len: isOneOf('rand 1..max, q=min(q,kv), seed 42'),
  cu_seq_len: isBoolean,
  cu_seq_len_q: isIntegers,
  cu_seq_len_kv: isIntegers,
  ragged: isAnyOf(isBoolean, isOneOf('q,o')),
  max_total_seq_len_q: isInteger,
  max_total_seq_len_kv: isInteger,
  paged: isBoolean,
  block_size: value => isInteger(value) && Number(value) > 0,
  packed_page_table: isBoolean,
  max_seq_len_kv: isInteger,
  diagonal_alignment: isOneOf('TOP_LEFT', 'BOTTOM_RIGHT'),
  left_bound: isInteger,
  right_bound: isAnyOf(isInteger, value => isText(value) && /^chunk_start\b/.test(String(value))),
  window: value => isIntegers(value) && (value as Numbers).length === 2,
  is_causal: isBoolean,
  bias: isAnyOf(isBoolean, isIntegers, value => isText(value) && /^\(\d+(, ?\d+){3}\)$/.test(String(value))),
  bias_dtype: isOneOf('bool', 'fp16', 'bf16', 'fp32'),
  dBias: isBoolean,
  alibi: isBoolean,
  softcap: isNumber,
  score_mod: isText,
  score_mod_bprop: isText,
  row_bound: isInteger,
  col_bound: isInteger,
  diag_bound_0: isInteger,
  diag_bound_1: isInteger,
  doc: value => documentIds.test(String(value)),
  block_mask: isAnyOf(isBoolean, isIntegers),
  sink_token: isBoolean,
  dSink: isBoolean,
  dropout: isAnyOf(
    isNumber,
    isOneOf('custom(mask,scale)'),
    value => isTexts(value) && String(value) === 'p,mask',
  ),
  seed: isWord,
  offset: isWord,
  rng_dump: isBoolean,
  generate_stats: isAnyOf(isBoolean, isOneOf('true iff cuDNN>=9.21')),
  is_inference: isBoolean,
  stats_use_log2: isBoolean,
  score_max: isBoolean,
  score_sum_exp: isBoolean,
  amax_s: isBoolean,
  amax_o: isBoolean,
  amax: isTexts,
  scale_s: isNumber,
  scale_o: isNumber,
  attn_scale: value => isTexts(value) && String(value) === 'tensor,value',
  attn_scale_prefolded: isBoolean,
  deterministic: isBoolean,
  chunks: isInteger,
  chunk: isInteger,
  kv_len_per_chunk: isIntegers,
  dynamic_batch: isBoolean,
  dynamic_shape: isBoolean,
  built_for: isIntegers,
  implementation: isText,
  unfuse_fma: isBoolean,
  rescale_threshold: isNumber,
  softmax_precision: isText,
  note: isText,
};

/**
 * Parses flags. An unknown flag or value is an error, so that none is ignored silently; null counts as
 * absent, and a number may be written as a string of digits.
 * @throws Error naming the flag.
 */
export function parseFlags(raw: unknown): Flags {
  if (raw === undefined) return {};
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new Error('flags must be an object');
  const given = Object.entries(raw).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, parseFlag(name, value)]));
}

function parseFlag(name: string, value: unknown): unknown {
  if (!Object.hasOwn(checks, name)) throw new Error(`the flag ${name} is not known to the runner`);
  const isKnown = checks[name as keyof Flags];
  const readings = [value, Array.isArray(value) ? value.map(numeral) : numeral(value), word64(value)];
  const known = readings.find(isKnown);
  if (known === undefined)
    throw new Error(`the flag ${name} has a value that the runner does not know: ${JSON.stringify(value)}`);
  return known;
}
