import { fileURLToPath } from 'node:url';
import { findPeer } from '../../../peers/peer-module.ts';
import type { SuiteOptions } from '../../../suite/suite.ts';
import { peerRun } from '../peer-run.ts';
import type { TrainingCase } from '../training-case.ts';
import type { TrainingRun } from '../training-run.ts';
import { jaxJsRun } from './jax-js-run.ts';
import { tfjsPackages, tfjsRun } from './tfjs-run.ts';

/** A peer that trains on WebGPU: its packages, and a function that opens a case. */
interface WebgpuPeer {
  readonly packages: readonly string[];
  readonly open: typeof tfjsRun;
}

/** The peers, by the names that their processes get as an argument. */
export const webgpuPeers: Readonly<Record<string, WebgpuPeer>> = {
  tfjs: { packages: tfjsPackages('webgpu'), open: tfjsRun },
  'jax-js': { packages: ['@jax-js/jax'], open: jaxJsRun },
};

/**
 * Starts a process for each peer that a folder has. Each peer has its own process, because a peer takes over
 * the WebGPU of its process.
 * @param device The options for opening the device of each process.
 */
export async function openWebgpuPeers(
  folder: string,
  of: TrainingCase,
  device: SuiteOptions,
): Promise<TrainingRun[]> {
  const program = fileURLToPath(new URL('./webgpu-peer-main.js', import.meta.url));
  const runs: TrainingRun[] = [];
  for (const [peer, { packages }] of Object.entries(webgpuPeers)) {
    if (packages.every(name => findPeer(folder, name)))
      runs.push(await peerRun(process.execPath, [program, peer, folder, of.name, JSON.stringify(device)]));
  }
  return runs;
}
