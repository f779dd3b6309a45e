/**
 * A process in which a peer trains a case on WebGPU, because a peer takes over the device of its process. The
 * arguments are the peer, the folder where the peer is installed, the case, and the options of its device as
 * JSON. `peerRun` describes the protocol.
 */
import { createInterface } from 'node:readline';
import { openWebGpu } from '../../../gpu/open-webgpu.ts';
import { openPeerEnvironment } from '../../../peers/peer-environment.ts';
import type { SuiteOptions } from '../../../suite/suite.ts';
import { trainingCases, weightsOfCase } from '../training-case.ts';
import { webgpuPeers } from './webgpu-peers.ts';

const [peer, folder, name, device] = process.argv.slice(2);
const of = trainingCases.find(one => one.name === name);
if (!of) throw new Error(`There is no case ${name}.`);
openPeerEnvironment(await openWebGpu(JSON.parse(device) as SuiteOptions));
const run = await webgpuPeers[peer].open(folder, of, weightsOfCase(of), 'webgpu');
if (!run) throw new Error(`${peer} is not installed in ${folder}.`);
const answer = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};
answer({ name: run.name, version: '' });
for await (const line of createInterface({ input: process.stdin })) answer(await run.steps(Number(line)));
