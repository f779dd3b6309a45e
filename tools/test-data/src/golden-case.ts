import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fixturesDir, sharedDir } from './data-folders.ts';
import { decodeTensor, type EncodedTensor, type RawTensor } from './raw-tensor.ts';

/** What a case asks for, in the words of its file. Lengths and counts are in elements. */
export interface GoldenParams {
  readonly layout: 'BHSD' | 'THD';
  readonly B: number;
  readonly Hq: number;
  readonly Hk: number;
  readonly Sq: number;
  readonly Skv: number;
  readonly Dqk: number;
  readonly Dv: number;
  readonly scale: number;
  readonly scaleIsDefault: boolean;
  readonly causal: boolean;
  /** Where the diagonal of `causal`, `window` and ALiBi starts: top-left or bottom-right. */
  readonly align: 'tl' | 'br';
  /** Neighbours left and right of the diagonal, -1 = unbounded. */
  readonly window: readonly [left: number, right: number] | null;
  /** 0 = none. */
  readonly softcap: number;
  /** 0 = none. */
  readonly dropoutP: number;
  readonly qLens?: readonly number[];
  readonly kvLens?: readonly number[];
  readonly maxSeqQ?: number;
  readonly maxSeqKv?: number;
}

/** The error of an eager implementation in that precision, per tensor: `[max, rms]`. */
export type RefErr = Readonly<Record<string, readonly [max: number, rms: number]>>;

/**
 * One golden case of attention, forward and backward. The inputs are exact in f32, f16 and bf16; the outputs were
 * computed in float64 and rounded to f32.
 */
export interface GoldenCase {
  readonly name: string;
  readonly params: GoldenParams;
  /** `q k v dO`, and as the case has them `bias mask slopes keep sink dLse docIds cuSeqQ cuSeqKv`. */
  readonly inputs: Readonly<Record<string, RawTensor>>;
  /** `o lse dq dk dv`, and as the case has them `dbias dslopes dsink`. */
  readonly outputs: Readonly<Record<string, RawTensor>>;
  readonly refErr: { readonly f32: RefErr; readonly f16: RefErr; readonly bf16: RefErr };
  /** The largest finite magnitude of each output. */
  readonly maxAbs: Readonly<Record<string, number>>;
  /** How many query rows see no key at all. For THD, of the padded [B, Hq, Sq] rows that the packed ones stand for. */
  readonly deadRows: number;
}

type EncodedCase = Omit<GoldenCase, 'inputs' | 'outputs'> & {
  readonly inputs: Readonly<Record<string, EncodedTensor>>;
  readonly outputs: Readonly<Record<string, EncodedTensor>>;
};

const fileName = /^\d+_(.+)\.json$/;

/** The folder of golden cases: the full set where it is present, else the committed one. */
function defaultDir(): string {
  const shared = sharedDir();
  const full = shared && join(shared, 'vectors', 'attention', 'cases');
  return full && existsSync(full) ? full : join(fixturesDir(), 'attention');
}

/** The names of the golden cases of a folder, in the order of their numbers. */
export function goldenCases(dir: string = defaultDir()): string[] {
  return caseFiles(dir).map(file => file.replace(fileName, '$1'));
}

/** Reads one golden case: a name of `goldenCases()`, or the path of a file. Throws where there is no such case. */
export function loadGolden(nameOrPath: string, dir: string = defaultDir()): GoldenCase {
  const encoded: EncodedCase = JSON.parse(readFileSync(findCase(nameOrPath, dir), 'utf8'));
  const { name, params, refErr, maxAbs, deadRows } = encoded;
  return {
    name,
    params,
    inputs: decodeAll(encoded.inputs),
    outputs: decodeAll(encoded.outputs),
    refErr,
    maxAbs,
    deadRows,
  };
}

function findCase(nameOrPath: string, dir: string): string {
  if (isAbsolute(nameOrPath) || nameOrPath.endsWith('.json')) return resolve(nameOrPath);
  const file = caseFiles(dir).find(candidate => candidate.replace(fileName, '$1') === nameOrPath);
  if (file) return join(dir, file);
  throw new Error(`There is no golden case "${nameOrPath}" in ${dir}.`);
}

function caseFiles(dir: string): string[] {
  return readdirSync(dir)
    .filter(file => fileName.test(file))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

function decodeAll(tensors: Readonly<Record<string, EncodedTensor>>): Record<string, RawTensor> {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, decodeTensor(tensor)]));
}
