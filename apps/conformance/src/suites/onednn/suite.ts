import type { Tensor } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { ConformanceCase } from '../../case.ts';
import { SetupError, type Suite } from '../../suite.ts';
import { caseName, type GraphCase, readCases } from './case-file.ts';
import { runGraphCase } from './run-graph-case.ts';

const engines: Readonly<Record<string, () => Promise<TensorEngine<Tensor>>>> = {
  cpu: async () => (await import('@tilewise/core/cpu')).cpuEngine(),
  reference: async () => (await import('@tilewise/core/reference')).referenceEngine(),
};

/** oneDNN's graphs with benchdnn's cases: partitioned, run, and compared with the graph run operation by operation. */
export const onednn: Suite = {
  name: 'onednn',
  summary:
    'graphs of oneDNN, as few partitions as it makes of them; the error is the relative norm of the worst output',
  options: {
    graphs: { value: 'DIR', meaning: 'where the graphs of the cases are', required: true },
    cases: { value: 'FILE', meaning: 'a list of cases', required: true },
    engine: { value: 'NAME', meaning: 'what computes', choices: Object.keys(engines) },
    'max-gflop': { value: 'N', meaning: 'leave out cases whose products take more' },
  },
  async open({ graphs = '', cases: file = '', engine: name = '', 'max-gflop': limit }) {
    const most = limit === undefined ? Infinity : Number(limit);
    if (Number.isNaN(most)) throw new SetupError(`--max-gflop: '${limit}' is no number.`);
    const { cases, missing } = readCases(graphs, file);
    if (cases.length === 0)
      throw new SetupError(`--cases: no graph of ${file} is in ${graphs} (${missing.length} are missing).`);
    const engine = await engines[name]();
    return { cases: cases.map(entry => conformanceCase(entry, graphs, engine, most)), close: () => {} };
  },
};

function conformanceCase(
  entry: GraphCase,
  graphs: string,
  engine: TensorEngine<Tensor>,
  most: number,
): ConformanceCase {
  const gflop = entry.matmul_gflop ?? 0;
  return {
    name: caseName(entry),
    ...(gflop > most && { skipped: `its products take ${gflop} GFLOP` }),
    run: () => runGraphCase(entry, graphs, engine),
  };
}
