import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuEngine } from '@tilewise/core/cpu';
import type { AutocastDType } from '@tilewise/nn';
import { webgpuEngine } from '@tilewise/webgpu';
import { countWork, type Work } from '@tilewise/webgpu-host';
import { deviceOptions, openWebGpu } from '../../gpu/open-webgpu.ts';
import { type SuiteOptions, UsageError } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';
import { relaxedEngine } from '../../wasm/relaxed-engine.ts';
import { peerRun } from './peer-run.ts';
import { jaxJsRun } from './peers/jax-js-run.ts';
import { tfjsRun } from './peers/tfjs-run.ts';
import { openWebgpuPeers } from './peers/webgpu-peers.ts';
import { encodeCase, type TrainingCase, trainingCases, weightsOfCase } from './training-case.ts';
import { ownRun, type TrainingRun } from './training-run.ts';

/** A run, and the work that its device has been given so far; no work if there is no GPU. */
export interface TrainingEntry {
  readonly run: TrainingRun;
  /** Whether the run is PyTorch's, with whose processor time the others are compared. */
  readonly isPyTorch?: boolean;
  /** The dtype of weights and operands, if it is not f32. */
  readonly dtype?: AutocastDType | undefined;
  readonly work: Readonly<Work>;
  readonly label: Row;
}

/** The implementations to open. */
export interface EntrySettings {
  readonly on: readonly ('cpu' | 'webgpu')[];
  /** Whether a software adapter runs the large case, which takes a minute per step. */
  readonly hasAll: boolean;
  readonly autocast: readonly AutocastDType[];
  readonly options: SuiteOptions;
}

/** The program that trains with PyTorch, which the pack for other machines lacks. */
const pytorchProgram = fileURLToPath(new URL('../../../training/pytorch.py', import.meta.url));

const noGpu = { work: { dispatches: 0, bytes: 0 }, label: {} } as const;

/**
 * Opens every implementation that trains a case: the engines, the peers, and PyTorch if this machine has it.
 * @param closing gets the functions to call at the end, in reverse order.
 * @throws UsageError if the given Python has no PyTorch.
 */
export async function openEntries(
  of: TrainingCase,
  { on, hasAll, autocast, options }: EntrySettings,
  closing: (() => unknown)[],
): Promise<TrainingEntry[]> {
  const entries: TrainingEntry[] = [];
  const add = (...opened: readonly TrainingEntry[]): void => {
    entries.push(...opened);
    closing.push(
      ...opened.map(
        ({ run }) =>
          () =>
            run.close(),
      ),
    );
  };
  const peers = typeof options.peers === 'string' ? options.peers : null;
  const python = findPython(options.python);
  if (on.includes('cpu')) {
    add({ run: ownRun(cpuEngine({ threads: 1 }), of), ...noGpu });
    if (options.threads === true)
      add({ run: { ...ownRun(cpuEngine({ threads: 2 }), of), name: 'cpu, 2 threads' }, ...noGpu });
    const relaxed = relaxedEngine();
    if (relaxed) add({ run: { ...ownRun(relaxed, of), name: 'cpu, relaxed SIMD' }, ...noGpu });
    for (const dtype of autocast) add({ run: ownRun(cpuEngine({ threads: 1 }), of, dtype), dtype, ...noGpu });
  }
  if (on.includes('webgpu')) {
    const bench = await openWebGpu(options);
    closing.push(() => bench.close());
    const { label, kind } = bench;
    if (hasAll || kind === 'hardware' || of === trainingCases[0]) {
      const work = countWork(bench.device);
      for (const dtype of [undefined, ...autocast])
        add({ run: ownRun(webgpuEngine(bench.ctx), of, dtype), dtype, work, label });
      const runs = peers === null ? [] : await openWebgpuPeers(peers, of, deviceOptions(options));
      add(...runs.map(run => ({ run, ...noGpu, label })));
    }
  }
  if (peers !== null && on.includes('cpu')) {
    const weights = weightsOfCase(of);
    for (const open of [tfjsRun, jaxJsRun]) {
      const run = await open(peers, of, weights);
      if (run) add({ run, ...noGpu });
    }
  }
  if (python) {
    const folder = mkdtempSync(join(tmpdir(), 'tilewise-bench-'));
    closing.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'case.safetensors');
    writeFileSync(file, encodeCase(of));
    add({ run: await peerRun(python, [pytorchProgram, file]), isPyTorch: true, ...noGpu });
  }
  return entries;
}

/** A Python that has PyTorch; null if there is none, or no program for it. */
function findPython(given: SuiteOptions[string]): string | null {
  if (!existsSync(pytorchProgram)) {
    if (typeof given === 'string') throw new UsageError(`--python: there is no ${pytorchProgram}.`);
    return null;
  }
  const python =
    typeof given === 'string' ? given : join(homedir(), '.cache', 'tilewise-venv', 'bin', 'python');
  const has = existsSync(python) && spawnSync(python, ['-c', 'import torch']).status === 0;
  if (has) return python;
  if (typeof given === 'string') throw new UsageError(`--python: ${python} has no PyTorch.`);
  return null;
}
