import { Graph } from '@tilewise/graph';
import type { ConformanceCase } from '../../cases/case.ts';
import { skippedBySize, workOptions } from '../../cases/work-range.ts';
import { engineNames, type OpenTensorEngine, openTensorEngine } from '../../engines/engines.ts';
import { SetupError, type Suite } from '../../suite.ts';
import {
  caseName,
  type GraphCase,
  hasGraph,
  readCases,
  readGraph,
  storedCases,
} from './rewrite/case-file.ts';
import { rewrite } from './rewrite/rewrite.ts';
import { graphGflop } from './run/gflop.ts';
import { runGraphCase } from './run/run-graph-case.ts';

/**
 * oneDNN's graphs with benchdnn's cases: partitioned, run, and compared with the graph run one operation at a
 * time.
 */
export const onednn: Suite = {
  name: 'onednn',
  summary:
    "graphs of oneDNN, and how many partitions each has; the error is the worst output's relative norm",
  options: {
    graphs: { value: 'DIR', meaning: 'folder with the graphs of the cases', required: true },
    cases: { value: 'FILE', meaning: 'a list of cases; without one, every graph as it is stored' },
    engine: { value: 'NAME', meaning: 'the engine to test', choices: engineNames },
    'reference-gflop': {
      value: 'N',
      meaning: 'for cases that take more, compare only randomly drawn entries of the batch',
      number: 'any',
    },
    ...workOptions,
  },
  async open(options) {
    const { graphs = '', cases: file, engine: name = '' } = options;
    const cases = file === undefined ? storedCases(graphs) : readCases(graphs, file);
    if (!cases.some(entry => hasGraph(graphs, entry))) {
      const wanted = file === undefined ? 'there is no graph' : `no graph of ${file} is`;
      throw new SetupError(`--graphs: ${wanted} in ${graphs}.`);
    }
    const engine = await openTensorEngine(name);
    return {
      cases: cases.map(entry => conformanceCase(entry, graphs, engine, options)),
      close: () => engine.close(),
    };
  },
};

/** The floating-point operations of a graph. An unknown operation counts as zero, and fails when it runs. */
function operationGflop(entry: GraphCase, graphs: string): number {
  try {
    return graphGflop(Graph.fromJSON(rewrite(readGraph(graphs, entry), entry)).finalize());
  } catch {
    return 0;
  }
}

function conformanceCase(
  entry: GraphCase,
  graphs: string,
  engine: OpenTensorEngine,
  options: Readonly<Record<string, string>>,
): ConformanceCase {
  const { 'reference-gflop': most = Infinity } = options;
  const gflop = entry.matmul_gflop ?? operationGflop(entry, graphs);
  const isLeftOut = entry.notUnderstood === undefined && !hasGraph(graphs, entry);
  return {
    name: caseName(entry),
    ...(isLeftOut ? { skip: `its graph is not in ${graphs}` } : skippedBySize(gflop, options)),
    run: () => engine.run(own => runGraphCase(entry, graphs, own, { gflop, most: Number(most) })),
  };
}
