import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OneDnnGraph } from '@tilewise/graph';
import { readJson, requireFolder } from '../../data-folder.ts';
import { SetupError } from '../../suite.ts';

/** A tensor of a case, as the list of cases has resolved it. */
export interface ResolvedTensor {
  readonly id: number;
  readonly shape: readonly number[];
  readonly stride?: readonly number[];
  readonly property?: string;
}

/** A case of benchdnn: a graph, and what is changed in it. Options are spelled as on its command line. */
export interface GraphCase {
  /** The graph's file, below the folder of graphs. */
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
  readonly n?: number;
}

const optionNames = ['in-shapes', 'op-attrs', 'op-kind', 'dt', 'tensor-property', 'mb'] as const;

/** A name that says what a case is. */
export function caseName(graphCase: GraphCase): string {
  const file = graphCase.case.replace(/\.json$/, '').replace(/^complex_fusion\/mha\//, '');
  const options = optionNames.flatMap(name => {
    const value = graphCase[name];
    return value === undefined || value === '' ? [] : [`--${name}=${value}`];
  });
  return [file, ...options].join(' ');
}

/**
 * The cases of a file whose graphs are there.
 * @throws SetupError when a file is not there or holds something else.
 */
export function readCases(
  graphs: string,
  file: string,
): { readonly cases: GraphCase[]; readonly missing: string[] } {
  requireFolder('graphs', graphs);
  const list = readJson(file);
  if (!Array.isArray(list) || list.some(entry => typeof entry?.case !== 'string')) {
    throw new SetupError(`--cases: ${file} is no list of cases.`);
  }
  const cases = list as GraphCase[];
  const isThere = (entry: GraphCase): boolean => existsSync(join(graphs, entry.case));
  return {
    cases: cases.filter(isThere),
    missing: cases.filter(entry => !isThere(entry)).map(entry => entry.case),
  };
}

/**
 * Every graph of a folder as it is stored. Nobody says how many partitions each is, so they are not counted.
 * @throws SetupError when the folder is not there.
 */
export function storedCases(graphs: string): { readonly cases: GraphCase[]; readonly missing: string[] } {
  requireFolder('graphs', graphs);
  const files = readdirSync(graphs, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.json'))
    .sort();
  return { cases: files.map(file => ({ case: file, 'expected-n-partitions': '0' })), missing: [] };
}

/** The graph of a case, as it is stored. */
export function readGraph(graphs: string, { case: file }: GraphCase): OneDnnGraph {
  return readJson(join(graphs, file)) as OneDnnGraph;
}
