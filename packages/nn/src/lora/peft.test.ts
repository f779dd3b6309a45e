import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuEngine } from '@tilewise/core/cpu';
import { sharedDir } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { folderFiles } from '../files/checkpoint/index.ts';
import { loadModel } from '../load-model.ts';
import { createTrainer } from '../training/trainer.ts';
import { saveAdapter } from './save-adapter.ts';

const standard = join(homedir(), '.cache/tilewise-venv/bin/python');
const python = process.env.TILEWISE_PYTHON ?? (existsSync(standard) ? standard : 'python3');
/** Exits with 0 if Python has peft and transformers. */
const find = `from importlib.util import find_spec
import sys
sys.exit(not (find_spec("peft") and find_spec("transformers")))`;
const hasPeft = spawnSync(python, ['-c', find]).status === 0;
const isFull = process.env.TILEWISE_TORCH === 'full';
const shared = sharedDir();

/** Prints the logits that transformers and peft compute from tokens. */
const script = `import json, sys
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
model = PeftModel.from_pretrained(model, sys.argv[2]).eval()
with torch.no_grad():
    logits = model(torch.tensor(json.loads(sys.argv[3]))).logits
print(json.dumps(logits.flatten().tolist()))
`;

const adapters = [
  ['llama', ['q_proj', 'v_proj', 'down_proj']],
  ['gpt2', ['c_attn', 'c_proj']],
] as const;
// Importing transformers takes long.
const tested = isFull ? adapters : adapters.slice(0, 1);

test.skipIf(!hasPeft || !shared).each(tested)(
  'peft loads an adapter of %s that was trained here, and computes the same',
  { timeout: 120_000 },
  async (name, targets) => {
    const model = join(shared ?? '', 'vectors/models', name);
    const folder = mkdtempSync(join(tmpdir(), 'tilewise-adapter-'));
    const engine = cpuEngine({ threads: 1 });
    const own = await loadModel(folderFiles(model), { engine });
    const lora = { rank: 3, alpha: 6, dropout: 0, targets, rankStabilised: true };
    const trainer = createTrainer(own, { learningRate: 0.02, lora, seed: 1 });
    const tokens = [[5, 3, 9, 2, 7, 1, 8, 4]];
    for (let n = 0; n < 3; n++) await trainer.step({ inputs: { tokens }, labels: tokens });
    for (const [file, bytes] of Object.entries(await saveAdapter(own)))
      writeFileSync(join(folder, file), bytes);
    const ours = (await own.logits({ tokens })).toFloat64();
    const args = ['-c', script, model, folder, JSON.stringify(tokens)];
    const { stdout } = await promisify(execFile)(python, args, { maxBuffer: 2 ** 26 });
    const theirs: readonly number[] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]');
    expect(theirs).toHaveLength(ours.length);
    const largest = Math.max(...theirs.map(Math.abs));
    for (const [n, x] of theirs.entries()) expect(Math.abs(ours[n] - x)).toBeLessThan(1e-4 * largest);
    rmSync(folder, { recursive: true });
  },
);
