import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { joinRuns } from '../join.ts';
import { table } from '../table.ts';
import { planMeasurement } from './plan.ts';
import { runSteps } from './step.ts';

const { TINY, TOGGLES = 'vulkan_enable_f16_on_nvidia,allow_unsafe_apis' } = process.env;
const { LIMIT = TINY === '1' ? '3600' : '570' } = process.env;
const app = dirname(process.argv[1]);
const pack = dirname(app);
const stamp = new Date().toISOString().replace(/[-:]|\..*/g, '');
const folder = join(pack, 'results', stamp);
mkdirSync(folder, { recursive: true });
const say = (text: string): unknown => process.stdout.write(`${text}\n`);
say(folder);

const findTorch = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)';
const hasTorch = spawnSync('python3', ['-c', findTorch]).status === 0;
if (!hasTorch) say('no python3 with torch: PyTorch is not measured');
const steps = planMeasurement({
  ...{ app, vectors: join(pack, 'vectors'), toggles: TOGGLES, tiny: TINY === '1' },
  ...(hasTorch && { torch: join(pack, 'torch_sdpa.py') }),
});
const outcomes = await runSteps(steps, folder, Number(LIMIT), ({ step, seconds, result }) =>
  say(`${step.padEnd(22)} ${seconds.toFixed(1).padStart(6)} s  ${result}`),
);

const linesOf = (own: boolean): string[] =>
  readdirSync(folder)
    .filter(file => /attention-.*\.out$|^torch.*\.out$/.test(file) && file.startsWith('torch') !== own)
    .flatMap(file => readFileSync(join(folder, file), 'utf8').split('\n'));
const ratios = table(joinRuns(linesOf(true), linesOf(false), 'webgpu'));
writeFileSync(join(folder, 'summary.txt'), `${table(outcomes.map(one => ({ ...one })))}\n\n${ratios}\n`);
if (ratios) say(`\n${ratios}`);
