import type { DType } from '@tilewise/core';
import { type Flags, parseFlags } from './flags.ts';
import { integer, numeral, word64 } from './numerals.ts';

/** Strides in elements, in the order (b, h, s, d). */
export type FourStrides = readonly [number, number, number, number];

/** [absolute, relative]: |a − e| ≤ absolute + relative·|e|. */
export type Tolerance = readonly [absolute: number, relative: number];

/**
 * The arithmetic of a case: storage dtypes with f32 in between, or one of the two contracts for 8-bit floats.
 */
export type Precision = 'float' | 'fp8' | 'mxfp8';

/** A case as its file states it, with every key known and every value of the expected type. */
export interface CudnnCase {
  readonly id: string;
  readonly backward: boolean;
  readonly precision: Precision;
  /** Absent in cases about one rule, which do not name a shape. */
  readonly dims: Readonly<Partial<Record<DimName, number>>>;
  /** The dtypes of q, k and v; more than one if the case stands for a call with each. */
  readonly dtypes: readonly DType[];
  /** The dtypes of the results; null for the dtype of q. */
  readonly outDTypes: readonly (DType | null)[];
  readonly layout: string;
  readonly strides: Readonly<Record<StrideName, FourStrides>> | null;
  /** null if the case gives none, which cuDNN treats as 1. */
  readonly scale: number | null;
  readonly flags: Flags;
  /** null if the case gives none; the seed is then derived from the id. */
  readonly dataSeed: bigint | null;
  /** A description in words; null for sparse integers. */
  readonly data: string | null;
  readonly tol: Readonly<Record<string, Tolerance>>;
  /** Why cuDNN refuses the case, as `CODE: message`; null if cuDNN runs it. */
  readonly vendorRule: string | null;
}

export type DimName = 'b' | 'h_q' | 'h_k' | 'h_v' | 's_q' | 's_kv' | 'd_qk' | 'd_v';
export type StrideName = 'q' | 'k' | 'v' | 'o';

const dimNames: readonly DimName[] = ['b', 'h_q', 'h_k', 'h_v', 's_q', 's_kv', 'd_qk', 'd_v'];

/** The dtype names of these files, of cuDNN and of PyTorch, in lower case. */
const dtypeNames: Readonly<Record<string, DType>> = {
  ...{ fp16: 'f16', half: 'f16', float16: 'f16', 'torch.float16': 'f16' },
  ...{ bf16: 'bf16', bfloat16: 'bf16', 'torch.bfloat16': 'bf16' },
  ...{ fp32: 'f32', float: 'f32', float32: 'f32', 'torch.float32': 'f32' },
  ...{ e4m3: 'f8e4m3', mxfp8_e4m3: 'f8e4m3', fp8_e4m3: 'f8e4m3', 'torch.float8_e4m3fn': 'f8e4m3' },
  ...{ e5m2: 'f8e5m2', mxfp8_e5m2: 'f8e5m2', fp8_e5m2: 'f8e5m2', 'torch.float8_e5m2': 'f8e5m2' },
};

const operations = /^(sdpa|sdpa_fp8|sdpa_mxfp8|bench)_(fwd|bwd|fwd\+bwd)$/;

const knownKeys: ReadonlySet<string> = new Set([
  ...['id', 'op', ...dimNames, 'dtype', 'out_dtype', 'layout', 'strides', 'attn_scale', 'flags'],
  ...['data_seed', 'data', 'tol', 'expect', 'cudnn_expect', 'expect_error', 'source'],
]);

/**
 * Parses one case. Only null values are ignored; an unknown key or value is an error.
 * @throws Error saying which part of the case is not understood.
 */
export function parseCase(given: Readonly<Record<string, unknown>>): CudnnCase {
  const raw = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const unknown = Object.keys(raw).filter(key => !knownKeys.has(key));
  if (unknown.length > 0) throw new Error(`the field ${unknown.join(', ')} is not known to the runner`);
  const [, family, passes] = operations.exec(String(raw.op)) ?? [];
  if (!family || !passes) throw new Error(`there is no operation ${raw.op}`);
  const flags = parseFlags(raw.flags);
  return {
    id: String(raw.id),
    backward: passes.includes('bwd'),
    precision: family === 'sdpa_fp8' ? 'fp8' : family === 'sdpa_mxfp8' ? 'mxfp8' : 'float',
    dims: parseDims(raw, flags),
    dtypes: parseDTypes('dtype', raw.dtype ?? (family === 'sdpa' || family === 'bench' ? 'fp16' : 'e4m3')),
    outDTypes: raw.out_dtype === undefined ? [null] : parseDTypes('out_dtype', raw.out_dtype),
    layout: String(raw.layout ?? 'bhsd'),
    strides: parseStrides(raw.strides),
    scale: raw.attn_scale === undefined ? null : parseScale(raw.attn_scale, raw),
    flags,
    dataSeed: raw.data_seed === undefined ? null : parseSeed(raw.data_seed),
    data: raw.data === undefined ? null : String(raw.data),
    tol: parseTolerances(raw.tol),
    vendorRule: parseVendorRule(raw),
  };
}

function parseDims(raw: Readonly<Record<string, unknown>>, flags: Flags): CudnnCase['dims'] {
  const dims: Partial<Record<DimName, number>> = {};
  for (const name of dimNames) {
    const value = raw[name];
    if (value === undefined) continue;
    const most = /^<=(\d+) \(rand\)$/.exec(String(value));
    if (name === 'b' && most && flags.dynamic_batch) dims.b = Number(most[1]);
    else dims[name] = extent(name, value);
  }
  return dims;
}

/** Parses `fp16`, or `fp16/bf16` for a case that stands for one with each. */
function parseDTypes(field: string, value: unknown): DType[] {
  return String(value)
    .split('/')
    .map(name => {
      const dtype = dtypeNames[name.trim().toLowerCase()];
      if (!dtype) throw new Error(`${field} ${name} is not known`);
      return dtype;
    });
}

function parseStrides(value: unknown): CudnnCase['strides'] {
  if (value === undefined) return null;
  const given = Object(value) as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).filter(name => !['q', 'k', 'v', 'o', 'stats'].includes(name));
  if (unknown.length > 0) throw new Error(`strides of ${unknown.join(', ')} are not known to the runner`);
  const four = (name: string): FourStrides => {
    const stated = given[name];
    const strides = Array.isArray(stated) ? stated.map(numeral) : stated;
    if (!Array.isArray(strides) || strides.length !== 4 || !strides.every(Number.isInteger)) {
      throw new Error(`strides.${name} must be four integers, got ${JSON.stringify(strides)}`);
    }
    return strides as unknown as FourStrides;
  };
  return { q: four('q'), k: four('k'), v: four('v'), o: four('o') };
}

/** Parses a number, or `1/sqrt(n)`, in which n is a number or d, the number of channels of q. */
function parseScale(value: unknown, { d_qk }: Readonly<Record<string, unknown>>): number {
  const number = numeral(value);
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  const [, n] = /^1(?:\.0*)? ?\/ ?(?:math\.)?sqrt\((\d+|d|d_qk|head_dim)\)$/.exec(String(value)) ?? [];
  const channels = Number(n === undefined || /^\d/.test(n) ? n : (d_qk ?? Number.NaN));
  if (!(channels > 0)) throw new Error(`attn_scale ${value} is not understood`);
  return 1 / Math.sqrt(channels);
}

function parseSeed(value: unknown): bigint {
  const seed = word64(value);
  if (seed === undefined)
    throw new Error(`data_seed must be an integer of 64 bits, got ${JSON.stringify(value)}`);
  return seed;
}

function extent(name: string, value: unknown): number {
  const number = integer(name, value);
  if (number < 0) throw new Error(`${name} must be a number of entries, got ${number}`);
  return number;
}

const isTolerance = (x: unknown): boolean => Number.isFinite(x) && Number(x) >= 0;

function parseTolerances(value: unknown): CudnnCase['tol'] {
  if (value === undefined) return {};
  for (const [name, pair] of Object.entries(Object(value))) {
    if (!Array.isArray(pair) || pair.length !== 2 || !pair.every(isTolerance)) {
      throw new Error(`tol.${name} must be [absolute, relative], both ≥ 0, got ${JSON.stringify(pair)}`);
    }
  }
  return value as CudnnCase['tol'];
}

function parseVendorRule({ cudnn_expect, expect_error }: Readonly<Record<string, unknown>>): string | null {
  if (expect_error !== undefined) {
    const { code, message } = Object(expect_error);
    if (typeof code === 'string' && typeof message === 'string') return `${code}: ${message}`;
    if (typeof expect_error === 'string') return expect_error;
    throw new Error(`expect_error must be { code, message }, got ${JSON.stringify(expect_error)}`);
  }
  return cudnn_expect === undefined || cudnn_expect === '' || cudnn_expect === 'ok'
    ? null
    : String(cudnn_expect);
}
