import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGpu } from './open-gpu.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tilewise-icd-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.runIf(process.platform === 'linux')(
  'a driver without a device says what was tried and what to set',
  async () => {
    const icd = join(folder, 'broken_icd.json');
    const driver = { library_path: './no-such-library.so', api_version: '1.1.0' };
    await writeFile(icd, JSON.stringify({ file_format_version: '1.0.0', ICD: driver }));
    process.env.TILEWISE_ADAPTER = icd;
    const failure = await openGpu().catch((error: Error) => error.message);
    expect(failure).toContain('No WebGPU adapter. Tried:');
    expect(failure).toContain(icd);
    expect(failure).toContain('Set TILEWISE_ADAPTER to hardware, swiftshader');
  },
);
