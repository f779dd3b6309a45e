import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeSafetensors, Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { runPython, writeFiles } from '@tilewise/test-data/python';
import { toJax } from '../../src/formats/jax/index.ts';
import { runtimeFiles as jaxFiles } from '../../src/formats/jax/runtime-files.ts';
import { toTorch } from '../../src/formats/torch/index.ts';
import { runtimeFiles as torchFiles } from '../../src/formats/torch/runtime-files.ts';
import { gradients } from '../../src/gradients.ts';
import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from '../attention/attention-graph.ts';

/** The outcome of a case: for each result and gradient, the relative error or what is wrong. */
export interface CaseReport {
  readonly case: string;
  readonly outputs?: readonly (number | string)[];
  readonly gradients?: readonly (number | string)[];
  readonly problem?: string;
}

const libraries = {
  torch: { write: toTorch, files: torchFiles },
  jax: { write: toJax, files: jaxFiles },
};

/** Exports graphs, runs them in one Python process, and compares the results with the reference engine. */
export class PythonCases {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'tilewise-python-'));
  readonly labels: string[] = [];
  readonly #library: keyof typeof libraries;

  constructor(library: keyof typeof libraries) {
    this.#library = library;
    writeFiles(join(this.folder, 'runtime'), { '__init__.py': '', ...libraries[library].files });
  }

  /**
   * Exports a graph and computes its expected results.
   * @param by the inputs whose gradients of the first output are compared too.
   * @throws the errors of the export.
   */
  async add(
    label: string,
    { graph, bindings }: Pick<GraphBuilder, 'graph' | 'bindings'>,
    by: readonly LogicalTensor[] = [],
  ): Promise<void> {
    graph.finalize();
    const known = Object.entries(bindings).flatMap(([id, t]) =>
      typeof t === 'object' && graph.inputs.some(input => input.id === Number(id))
        ? [[id, { shape: t.shape }] as const]
        : [],
    );
    const files = libraries[this.#library].write(graph, { inputs: Object.fromEntries(known) });
    const results = await graph.run(referenceEngine(), bindings);
    const given = new Map<string, Tensor>();
    const inputs = graph.inputs.map(({ id }, n) => {
      const bound = bindings[id];
      if (typeof bound !== 'object') return `${bound}`;
      given.set(`i${n}`, bound);
      return null;
    });
    for (const [n, { id }] of graph.outputs.entries()) given.set(`o${n}`, results[id]);
    if (by.length > 0) {
      const [of] = graph.outputs;
      const backward = gradients(graph, { of, withRespectTo: [...by] }).finalize();
      const { size, shape, dtype } = results[of.id];
      const seed = Tensor.from(
        Array.from({ length: size }, (_, n) => Math.cos(n * n + 1)),
        shape,
        { dtype },
      );
      const all = { ...bindings, ...results, [backward.seeds.get(of.id)?.id ?? -1]: seed };
      const own = Object.entries(all).filter(([id]) => backward.inputs.some(t => t.id === Number(id)));
      const found = await backward.run(referenceEngine(), Object.fromEntries(own));
      given.set('seed', seed);
      for (const [n, t] of by.entries()) {
        const id = backward.gradients.get(t.id)?.id ?? -1;
        given.set(`g${n}`, found[id] ?? Tensor.zeros((bindings[t.id] as Tensor).shape));
      }
    }
    const places = by.map(t => graph.inputs.findIndex(({ id }) => id === t.id));
    const own = Object.entries(files).filter(([path]) => /\/(model\.py|constants\.safetensors)$/.test(path));
    writeFiles(join(this.folder, `${this.labels.length}`), {
      ...Object.fromEntries(own.map(([path, content]) => [path.slice(path.indexOf('/') + 1), content])),
      'case.json': JSON.stringify({ inputs, by: places }),
      'given.safetensors': encodeSafetensors(given),
    });
    this.labels.push(label);
  }

  /** Runs all cases; returns their reports by label. */
  async run(): Promise<Map<string, CaseReport>> {
    const script = fileURLToPath(new URL('run_cases.py', import.meta.url));
    const lines = (await runPython([script, this.#library, this.folder], this.folder)).trim().split('\n');
    return new Map(
      lines.map((line, n) => [this.labels[n], JSON.parse(line.replaceAll('Infinity', '1e999'))]),
    );
  }
}
