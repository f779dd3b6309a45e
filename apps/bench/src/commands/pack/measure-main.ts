import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { planMeasurement } from './plan.ts';
import { Report } from './report.ts';
import { runSteps } from './step.ts';

const { TINY, TOGGLES = 'vulkan_enable_f16_on_nvidia,allow_unsafe_apis' } = process.env;
const { LIMIT = TINY === '1' ? '3600' : '570' } = process.env;
const app = dirname(process.argv[1]);
const pack = dirname(app);
const stamp = new Date().toISOString().replace(/[-:]|\..*/g, '');
const folder = resolve(process.env.RESULTS ?? join(pack, 'results', stamp));
mkdirSync(folder, { recursive: true });
const say = (text: string): unknown => process.stdout.write(`${text}\n`);
say(folder);

const succeeds = (script: string): boolean => spawnSync('python3', ['-c', script]).status === 0;
const hasTorch = succeeds('import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)');
const hasCuda = hasTorch && succeeds('import sys, torch; sys.exit(not torch.cuda.is_available())');
if (!hasTorch) say('no python3 with torch: PyTorch is not measured');
const steps = planMeasurement({
  ...{ app, vectors: join(pack, 'vectors'), folder, toggles: TOGGLES, tiny: TINY === '1' },
  ...(hasTorch && { torch: join(pack, 'torch_sdpa.py') }),
  ...(hasCuda && { torchDropout: join(pack, 'torch_dropout.py') }),
});
const report = new Report(folder);
const outcomes = await runSteps(steps, folder, Number(LIMIT), outcome => {
  report.add(outcome);
  const { step, seconds, result } = outcome;
  say(`${step.padEnd(27)} ${seconds.toFixed(1).padStart(6)} s  ${result}`);
});
const ratios = report.ratios();
if (ratios) say(`\n${ratios}`);
if (outcomes.some(({ result }) => result !== 'done')) process.exitCode = 1;
