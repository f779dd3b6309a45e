import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { trainingCases } from '../training-case.ts';
import { openWebgpuPeers, webgpuPeers } from './webgpu-peers.ts';

test('a peer with a missing package starts no process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'peers-'));
  expect(await openWebgpuPeers(folder, trainingCases[0], {})).toEqual([]);
  // TensorFlow.js without its WebGPU backend.
  const [library, backend] = webgpuPeers.tfjs.packages;
  expect(backend).toBe('@tensorflow/tfjs-backend-webgpu');
  const root = join(folder, 'node_modules', library);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"version":"1.0.0"}');
  expect(await openWebgpuPeers(folder, trainingCases[0], {})).toEqual([]);
});
