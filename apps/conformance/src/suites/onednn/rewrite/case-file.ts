import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OneDnnGraph } from '@tilewise/graph';
import { jsonFiles, readJson, requireFolder } from '../../../data-folder.ts';
import { SetupError } from '../../../suite.ts';

/** A tensor of a case, as resolved in the list of cases. */
export interface ResolvedTensor {
  readonly id: number;
  readonly shape: readonly number[];
  readonly stride?: readonly number[];
  readonly property?: string;
}

/** A case of benchdnn: a graph, and changes to it. Options are spelled as on benchdnn's command line. */
export interface GraphCase {
  /** The path of the graph's file in the folder of graphs. */
  readonly case: string;
  readonly 'in-shapes'?: string;
  readonly 'op-attrs'?: string;
  readonly 'op-kind'?: string;
  readonly 'tensor-property'?: string;
  readonly dt?: string;
  readonly mb?: string;
  readonly 'attr-fpmath'?: string;
  readonly 'expected-n-partitions'?: string;
  readonly matmul_gflop?: number;
  readonly inputs?: readonly ResolvedTensor[];
  /** The part of the case that is not understood; such a case fails. */
  readonly notUnderstood?: string;
}

const optionNames = ['in-shapes', 'op-attrs', 'op-kind', 'dt', 'tensor-property', 'mb'] as const;
const otherOptionNames = ['attr-fpmath', 'expected-n-partitions'] as const;

/** The fields of a list that describe a case without changing it. */
const descriptions = [
  ...[
    'n',
    'id',
    'note',
    'source',
    'harness',
    'category',
    'q_dtype',
    'kv_dtype',
    'score_dtype',
    'mask',
    'scale',
  ],
  ...['dropout', 'softcap', 'dmask', 'rank', 'reshape4d_gqa', 'out_transpose', 'softmax_mode', 'dims', 'gqa'],
  ...['score_elems', 'outputs', 'ops'],
];
const knownKeys: ReadonlySet<string> = new Set([
  ...['case', 'inputs', 'matmul_gflop', ...optionNames, ...otherOptionNames, ...descriptions],
]);

/**
 * Parses a case. An option may be a number, and null counts as absent. An unknown part is never ignored: it
 * is `notUnderstood`.
 */
export function parseGraphCase(
  raw: Readonly<Record<string, unknown>> & { readonly case: string },
): GraphCase {
  const unknown = Object.keys(raw).filter(key => !knownKeys.has(key));
  if (unknown.length > 0)
    return { case: raw.case, notUnderstood: `the key ${unknown.join(', ')} is not known` };
  const options: Record<string, string> = {};
  for (const name of [...optionNames, ...otherOptionNames]) {
    const value = raw[name] ?? '';
    if (typeof value !== 'string' && !Number.isInteger(value))
      return { case: raw.case, notUnderstood: `${name} must be text, got ${JSON.stringify(value)}` };
    if (value !== '') options[name] = String(value);
  }
  const { 'expected-n-partitions': count = '1' } = options;
  if (!/^\d+$/.test(count))
    return {
      case: raw.case,
      notUnderstood: `expected-n-partitions must be a whole number of at least 0, got '${count}'`,
    };
  const { 'attr-fpmath': fpmath = 'strict' } = options;
  if (!/^(strict|bf16|f16|tf32|any)(:(true|false))?$/.test(fpmath))
    return { case: raw.case, notUnderstood: `attr-fpmath must be a mode of oneDNN, got '${fpmath}'` };
  const { inputs, matmul_gflop: gflop } = raw;
  if (!(inputs === undefined || inputs === null || (Array.isArray(inputs) && inputs.every(isResolvedTensor))))
    return { case: raw.case, notUnderstood: 'inputs must be a list of { id, shape, stride }' };
  return {
    ...{ case: raw.case, ...options },
    ...(inputs ? { inputs } : {}),
    ...(typeof gflop === 'number' ? { matmul_gflop: gflop } : {}),
  };
}

function isResolvedTensor(value: unknown): value is ResolvedTensor {
  const { id, shape, stride } = Object(value);
  const areExtents = (list: unknown) => Array.isArray(list) && list.every(Number.isInteger);
  return Number.isInteger(id) && areExtents(shape) && (stride === undefined || areExtents(stride));
}

/** A name that describes a case. */
export function caseName(graphCase: GraphCase): string {
  const file = graphCase.case.replace(/\.json$/, '').replace(/^complex_fusion\/mha\//, '');
  const options = optionNames.flatMap(name => {
    const value = graphCase[name];
    return value === undefined || value === '' ? [] : [`--${name}=${value}`];
  });
  return [file, ...options].join(' ');
}

/**
 * The cases of a file.
 * @throws SetupError if the file does not exist or does not contain cases.
 */
export function readCases(graphs: string, file: string): GraphCase[] {
  requireFolder('graphs', graphs);
  const list = readJson(file);
  if (!Array.isArray(list) || !list.some(namesGraph))
    throw new SetupError(`--cases: ${file} is not a list of cases.`);
  return list.map((entry: unknown, index) =>
    namesGraph(entry)
      ? parseGraphCase(entry)
      : { case: `#${index}`, notUnderstood: 'it names no graph as its case' },
  );
}

function namesGraph(entry: unknown): entry is { readonly case: string } {
  return typeof Object(entry).case === 'string';
}

/** Whether the graph of a case is in the folder. */
export function hasGraph(graphs: string, { case: file }: GraphCase): boolean {
  return existsSync(join(graphs, file));
}

/**
 * Every graph of a folder as stored. The files do not say how many partitions each has, so these are not
 * counted.
 * @throws SetupError if the folder does not exist.
 */
export function storedCases(graphs: string): GraphCase[] {
  requireFolder('graphs', graphs);
  return jsonFiles(graphs).map(file => ({ case: file, 'expected-n-partitions': '0' }));
}

/**
 * The graph of a case, as stored.
 * @throws Error if the file does not contain a graph.
 */
export function readGraph(graphs: string, { case: file }: GraphCase): OneDnnGraph {
  const stored = readJson(join(graphs, file)) as OneDnnGraph;
  const ops = Object(stored).graph;
  const isGraph =
    Array.isArray(ops) && ops.every(op => Array.isArray(op?.inputs) && Array.isArray(op?.outputs));
  if (!isGraph)
    throw new Error(`${file} is not a graph: it has no list of operations with inputs and outputs`);
  return stored;
}
