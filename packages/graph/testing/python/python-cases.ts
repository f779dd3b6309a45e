import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { toJax } from '../../src/formats/jax/index.ts';
import { runtimeFiles as jaxFiles } from '../../src/formats/jax/runtime-files.ts';
import { safetensorsFile } from '../../src/formats/python/safetensors.ts';
import { toTorch } from '../../src/formats/torch/index.ts';
import { runtimeFiles as torchFiles } from '../../src/formats/torch/runtime-files.ts';
import { gradients } from '../../src/gradients.ts';
import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from '../attention-graph.ts';

const standard = join(homedir(), '.cache/tilewise-venv/bin/python');

/**
 * A Python that has PyTorch: that of `TILEWISE_PYTHON`, or that which `.ci/release` makes; undefined where
 * there is none.
 */
export const python: string | undefined =
  process.env.TILEWISE_PYTHON ?? (existsSync(standard) ? standard : undefined);

/**
 * The Python of tests that take longer, which run where `TILEWISE_TORCH` is `full`, as `.ci/release` sets it.
 */
export const fullPython: string | undefined = process.env.TILEWISE_TORCH === 'full' ? python : undefined;

/** Runs Python in a folder and gives what it prints. */
export async function runPython(args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, OMP_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd, env, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(python ?? 'python3', [...args], options);
  return stdout;
}

/** Whether a Python has a module; false where there is none. */
export async function hasModule(name: string, by: string | undefined): Promise<boolean> {
  if (by === undefined) return false;
  const code = `import importlib.util as u; print(u.find_spec("${name}") is not None)`;
  return (await runPython(['-c', code], tmpdir())).trim() === 'True';
}

/** The outcome of a case: relative errors, or the fault, of each result and gradient. */
export interface CaseReport {
  readonly case: string;
  readonly outputs?: readonly (number | string)[];
  readonly gradients?: readonly (number | string)[];
  readonly problem?: string;
}

/** Writes files into a folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const libraries = {
  torch: { write: toTorch, files: torchFiles },
  jax: { write: toJax, files: jaxFiles },
};

/** Graphs that are exported and run by one process of Python, against the reference engine. */
export class PythonCases {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'tilewise-python-'));
  readonly labels: string[] = [];
  readonly #library: keyof typeof libraries;

  constructor(library: keyof typeof libraries) {
    this.#library = library;
    writeFiles(join(this.folder, 'runtime'), { '__init__.py': '', ...libraries[library].files });
  }

  /**
   * Exports a graph and computes what is expected of it.
   * @param by inputs of which gradients of the first output are compared, too.
   * @throws what the export throws.
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
        // The gradient of a sum by a term is the seed itself, which no operation gives.
        const isSeed = id === backward.seeds.get(of.id)?.id;
        given.set(`g${n}`, found[id] ?? (isSeed ? seed : Tensor.zeros((bindings[t.id] as Tensor).shape)));
      }
    }
    const places = by.map(t => graph.inputs.findIndex(({ id }) => id === t.id));
    const own = Object.entries(files).filter(([path]) => /\/(model\.py|constants\.safetensors)$/.test(path));
    writeFiles(join(this.folder, `${this.labels.length}`), {
      ...Object.fromEntries(own.map(([path, content]) => [path.slice(path.indexOf('/') + 1), content])),
      'case.json': JSON.stringify({ inputs, by: places }),
      'given.safetensors': safetensorsFile(given),
    });
    this.labels.push(label);
  }

  /** Runs all cases; gives their reports by label. */
  async run(): Promise<Map<string, CaseReport>> {
    const script = fileURLToPath(new URL('run_cases.py', import.meta.url));
    const lines = (await runPython([script, this.#library, this.folder], this.folder)).trim().split('\n');
    return new Map(
      lines.map((line, n) => [this.labels[n], JSON.parse(line.replaceAll('Infinity', '1e999'))]),
    );
  }
}
