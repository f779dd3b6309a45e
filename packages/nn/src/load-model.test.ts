import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { folderFiles, loadModel } from './index.ts';

test('a folder without a model is refused, with what to pass', async () => {
  await expect(loadModel(folderFiles('/nowhere'), { engine: cpuEngine() })).rejects.toThrow(
    '/nowhere has no config.json: pass the files of a model',
  );
});
